/**
 * Request targets (RFC 9112, 3.2): one canonical path for whoever judges, the raw bytes for whoever forwards.
 *
 * What two servers might read differently is refused rather than guessed at.
 */

/** A target taken apart. */
export interface Target {
  /** Origin-form or `*`, byte for byte as sent. */
  readonly target: string
  /** Canonical path. */
  readonly path: string
  /** Query without `?`, as sent. */
  readonly query: string
  /** Authority of an absolute-form target, as sent; else `null`. */
  readonly authority: string | null
}

/** Why a target is refused. */
export type TargetFault = 'bad-target' | 'ambiguous-path'

// 0: stands for itself in a canonical path. 1: needs a look. 2: never legal in a target.
const CLASS = new Uint8Array(256).fill(1)
for (const c of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~!$&'()*+,=:@/") {
  CLASS[c.charCodeAt(0)] = 0
}
for (let code = 0; code <= 0x20; code++) CLASS[code] = 2
CLASS[0x7f] = 2
CLASS[0x23] = 2 // '#': a fragment is never sent

/** Takes a request target apart, or says why it is refused. `raw` has one character a byte. */
export function readTarget(method: string, raw: string): Target | TargetFault {
  if (raw.charCodeAt(0) === 0x2f) return originForm(raw, null)
  if (raw === '*')
    return method === 'OPTIONS' ? { target: raw, path: '*', query: '', authority: null } : 'bad-target'
  return absoluteForm(raw)
}

function absoluteForm(raw: string): Target | TargetFault {
  const match = /^https?:\/\/([^/?#\\@\s]+)(?=[/?]|$)(.*)$/is.exec(raw)
  if (match === null) return 'bad-target'
  const rest = match[2]!
  return originForm(rest.startsWith('/') ? rest : `/${rest}`, match[1]!)
}

function originForm(raw: string, authority: string | null): Target | TargetFault {
  let plain = true
  let end = raw.length
  let previous = 0
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code === 0x3f) {
      end = i
      break
    }
    const kind = code < 256 ? CLASS[code] : 2
    if (kind === 2) return 'bad-target'
    // A dot needs a look only at the start of a segment.
    if (kind === 1 && (code !== 0x2e || previous === 0x2f)) plain = false
    previous = code
  }
  for (let i = end + 1; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code > 255 || CLASS[code] === 2) return 'bad-target'
  }
  const path = end === raw.length ? raw : raw.slice(0, end)
  const canonical = plain ? path : canonicalPath(path)
  if (canonical === null) return 'ambiguous-path'
  return { target: raw, path: canonical, query: end === raw.length ? '' : raw.slice(end + 1), authority }
}

/**
 * The one spelling of a path that everybody judges: unreserved characters decoded, all others percent-encoded in
 * upper case, dot segments resolved (RFC 3986, 6.2.2), empty segments, parameters and encoded slashes kept.
 * `null` for a path that different servers resolve differently.
 */
export function canonicalPath(path: string): string | null {
  const segments: string[] = []
  let shifty = false
  const parts = path.split('/')
  for (let i = 1; i < parts.length; i++) {
    const segment = canonicalSegment(parts[i]!)
    const last = i === parts.length - 1
    if (segment === '.') {
      if (last) segments.push('')
    } else if (segment === '..') {
      // Above the root, or behind a segment that others count as none or as two: where it leads depends on the reader.
      if (segments.length === 0 || shifty) return null
      segments.pop()
      if (last) segments.push('')
    } else {
      if (hidesDots(segment)) return null
      if (!last) shifty ||= SHIFTY.test(segment)
      segments.push(segment)
    }
  }
  return `/${segments.join('/')}`
}

/** Empty to those who merge such segments or cut parameters off, or more than one to those who decode slashes. */
const SHIFTY = /^(?:$|;|%3B)|%2F|%5C/

/** One segment in its canonical spelling; dot segments stay. */
export function canonicalSegment(segment: string): string {
  let out = ''
  for (let i = 0; i < segment.length; i++) {
    const code = segment.charCodeAt(i)
    if (code === 0x25) {
      const byte = hexByte(segment, i)
      if (byte === -1) {
        out += '%25'
        continue
      }
      out += isUnreserved(byte) ? String.fromCharCode(byte) : percent(byte)
      i += 2
    } else {
      out += CLASS[code] === 0 || code === 0x2e || code === 0x3b ? segment[i] : percent(code)
    }
  }
  return out
}

/** True when a laxer reader would find a `.` or `..` segment in here: `..%2f`, `..;x`, `..\`, `%252e%252e`, `..%00`. */
function hidesDots(segment: string): boolean {
  if (!segment.includes('%') && !segment.includes(';')) return false
  let text = segment
  for (let round = 0; round < 3; round++) {
    text = text.replace(/%C0%AE/gi, '.').replace(/%C0%AF/gi, '/')
    for (const piece of text.split(/[/\\]|%2f|%5c/i)) {
      const name = piece.replace(/(?:;|%3b|\0|%00).*$/is, '').replace(/%2e/gi, '.')
      if (name === '.' || name === '..') return true
    }
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (decoded === text) return false
    text = decoded
  }
  return false
}

function hexByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at + 1))
  const low = hexDigit(text.charCodeAt(at + 2))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function isUnreserved(code: number): boolean {
  const lower = code | 0x20
  if (lower >= 0x61 && lower <= 0x7a && code >= 0x41) return true
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e || code === 0x5f || code === 0x7e
}

function percent(code: number): string {
  return `%${code < 16 ? '0' : ''}${code.toString(16).toUpperCase()}`
}
