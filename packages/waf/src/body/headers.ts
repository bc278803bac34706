/** Header fields whose values an application may read, log or show. */
import type { Limits } from './options.ts'
import type { Trail } from './place.ts'
import type { Emit } from './types.ts'

/** What is done with a field. The quiet ones are looked at only when their value is no ordinary one. */
type Treatment = 'look' | 'list' | 'quoted' | 'date' | 'credentials' | 'own'

/** Lists of tokens with parameters: framing, caching, negotiation. */
const LISTS = [
  ...[
    'accept',
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'cache-control',
    'connection',
    'content-length',
  ],
  ...[
    'content-language',
    'dnt',
    'early-data',
    'expect',
    'host',
    'keep-alive',
    'max-forwards',
    'pragma',
    'priority',
  ],
  ...[
    'range',
    'save-data',
    'sec-fetch-dest',
    'sec-fetch-mode',
    'sec-fetch-site',
    'sec-fetch-user',
    'sec-gpc',
  ],
  ...[
    'sec-websocket-key',
    'sec-websocket-version',
    'te',
    'traceparent',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ],
  ...['upgrade-insecure-requests'],
]
const QUOTED = ['if-match', 'if-none-match', 'sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform']
const DATES = ['date', 'if-modified-since', 'if-unmodified-since', 'if-range']
/** Read by readers of their own. */
const OWN = ['cookie', 'content-type', 'content-encoding']

const treatments = new Map<string, Treatment>()
for (const name of LISTS) remember(name, 'list')
for (const name of QUOTED) remember(name, 'quoted')
for (const name of DATES) remember(name, 'date')
for (const name of OWN) remember(name, 'own')
for (const name of ['authorization', 'proxy-authorization']) remember(name, 'credentials')
for (const name of ['user-agent', 'referer', 'origin', 'x-forwarded-for', 'x-requested-with'])
  remember(name, 'look')

/** Usual spellings are found as they are; others after lower-casing. */
function remember(name: string, treatment: Treatment): void {
  treatments.set(name, treatment)
  treatments.set(
    name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase()),
    treatment,
  )
}

// 1: part of a token or list. 2: only within what is quoted or a date.
const PLAIN = new Uint8Array(256)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789,;=.*/+_-')
  PLAIN[c.charCodeAt(0)] = 1
for (const c of ' :"?()') PLAIN[c.charCodeAt(0)] = 2
const MOST_QUIET = 256

/** Reads the fields that are not left out. Values go out as they came. */
export function readHeaders(
  headers: readonly (readonly [string, string])[],
  limits: Limits,
  trail: Trail,
  emit: Emit,
): void {
  trail.at('header')
  const { skipHeaders } = limits
  for (let i = 0; i < headers.length; i++) {
    const [name, value] = headers[i]!
    const treatment = treatments.get(name) ?? treatments.get(name.toLowerCase()) ?? 'look'
    if (treatment === 'own' || value === '') continue
    if (treatment !== 'look' && treatment !== 'credentials' && isOrdinary(value, treatment)) continue
    if (skipHeaders.size > 0 && skipHeaders.has(name.toLowerCase())) continue
    trail.name = name
    emit(trail, treatment === 'credentials' ? withoutScheme(value) : value, 'value')
  }
}

/** All values of a field. `lower` is in lower case. */
export function valuesOf(headers: readonly (readonly [string, string])[], lower: string): readonly string[] {
  let values: string[] | null = null
  for (let i = 0; i < headers.length; i++) {
    const name = headers[i]![0]
    if (name.length === lower.length && (name === lower || name.toLowerCase() === lower)) {
      values ??= []
      values.push(headers[i]![1])
    }
  }
  return values ?? NONE
}

const NONE: readonly string[] = []

/** True for a value that no attack can be written in: no quotes but where they belong, no words apart, no dots in a row. */
function isOrdinary(value: string, treatment: 'list' | 'quoted' | 'date'): boolean {
  if (value.length > MOST_QUIET) return false
  let before = 0x2c
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    const kind = PLAIN[code & 0xff]
    if (kind === 0) return false
    if (kind === 2 && treatment === 'list') {
      // A space behind a comma or semicolon, a port behind a host.
      if (code === 0x20 ? before !== 0x2c && before !== 0x3b : code !== 0x3a) return false
    } else if (code === before && (code === 0x2e || code === 0x2d || (code === 0x2a && treatment !== 'list')))
      return false
    before = code
  }
  return treatment !== 'date' || value.length < 40
}

function withoutScheme(value: string): string {
  const space = value.indexOf(' ')
  return space === -1 ? value : value.slice(space + 1)
}
