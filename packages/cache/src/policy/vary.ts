/** Which stored response a request may have (RFC 9111, 4.1). */
import type { HeaderList } from '@postern/core'

/** Lists whose members' order, case and spacing carry no meaning. */
const LISTS = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language'])

/** Names in `Vary`, lower case, sorted, each once; `null` for `*` in any place. */
export function varyNames(headers: HeaderList): readonly string[] | null {
  const value = headers.joined('vary')
  if (value === undefined) return NONE
  const names = new Set<string>()
  for (const part of value.split(',')) {
    const name = part.trim().toLowerCase()
    if (name === '*') return null
    if (name !== '') names.add(name)
  }
  return names.size === 0 ? NONE : [...names].sort()
}

const NONE: readonly string[] = []

/** The values of these fields in a request, normalised, as one string. Two requests with the same string match. */
export function varyKey(names: readonly string[], request: HeaderList): string {
  if (names.length === 0) return ''
  let key = ''
  for (const name of names) {
    const value = normalisedValue(name, request)
    // Absent only matches absent. No value holds a line feed.
    key += value === undefined ? `${name}\n` : `${name}:${value}\n`
  }
  return key + aliases(names, request)
}

/** Fields in spellings that CGI and its heirs fold onto one of these names: the origin may have read those. */
export function aliases(names: readonly string[], request: HeaderList): string {
  const { raw } = request
  let found = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (!name.includes('_') && !name.includes('.')) continue
    const folded = name.toLowerCase().replace(/[_.]/g, '-')
    if (names.includes(folded)) found += `${name.toLowerCase()}=${raw[i + 1]}\n`
  }
  return found
}

/** A field's value in the spelling that all spellings with the same meaning share. */
export function normalisedValue(name: string, request: HeaderList): string | undefined {
  const value = request.joined(name)
  if (value === undefined) return undefined
  if (!LISTS.has(name)) return value.trim()
  const members = new Set<string>()
  for (const part of value.split(',')) {
    const member = part.toLowerCase().replace(/[ \t]+/g, '')
    if (member !== '') members.add(member)
  }
  return [...members].sort().join(',')
}
