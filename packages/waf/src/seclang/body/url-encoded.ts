import { Entry } from '../engine/form.ts'
import { escaped, urlDecode } from '../transform/url-decode.ts'
import { addArgument, type BodyLimits, emptyBody, type ParsedBody } from './body.ts'

/** Reads `a=1&b=2`. A name without `=` has an empty value; what is no valid escape stays as it is. */
export function readUrlEncoded(text: string, limits: BodyLimits): ParsedBody {
  const body = emptyBody()
  if (text === '') return body
  for (let from = 0; from <= text.length; ) {
    let to = text.indexOf(limits.separator, from)
    if (to === -1) to = text.length
    if (to > from) {
      const equals = text.indexOf('=', from)
      const split = equals === -1 || equals >= to ? to : equals
      const key = decode(text.slice(from, split), body)
      const value = split === to ? '' : decode(text.slice(split + 1, to), body)
      if (!addArgument(body, limits, key, value)) break
    }
    from = to + 1
  }
  return body
}

/** The arguments of a query. Of too many the last one holds all that is left, so that rules see it still. */
export function readQuery(query: string, limits: BodyLimits): Entry[] {
  const { args, error } = readUrlEncoded(query, limits)
  if (error === '' || args.length === 0) return args
  const from = placeOf(query, limits.separator, args.length - 1)
  const rest = query.slice(from)
  const equals = rest.indexOf('=')
  const key = equals === -1 ? '' : rest.slice(0, equals)
  args[args.length - 1] = new Entry(urlDecode(key), urlDecode(rest.slice(equals + 1)))
  return args
}

/** Where the argument with this number begins; empty ones do not count. */
function placeOf(query: string, separator: string, number: number): number {
  let from = 0
  for (let left = number; ; ) {
    const to = query.indexOf(separator, from)
    if (to === -1) return from
    if (to > from && left-- === 0) return from
    from = to + 1
  }
}

function decode(text: string, body: ParsedBody): string {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!body.urlEncodedError) body.urlEncodedError = hasBadEscape(text)
  return urlDecode(text)
}

function hasBadEscape(text: string): boolean {
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 3)) {
    if (escaped(text, at + 1) === -1) return true
  }
  return false
}
