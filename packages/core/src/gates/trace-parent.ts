/** The two fields of W3C Trace Context as text: pure functions. */

/** What a `traceparent` says. */
export interface TraceParent {
  readonly traceId: string
  readonly parentId: string
  readonly sampled: boolean
}

/** `00-` trace id, `-`, parent id, `-`, flags. */
const LENGTH = 55
/** What has to be propagated at the least, and what we propagate at the most (W3C Trace Context, 3.3.1.5). */
const MOST_STATE = 512
const MOST_MEMBERS = 32
const MEMBER =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** Reads a `traceparent`; `null` for one that is invalid (W3C Trace Context, 3.2.2). */
export function readTraceParent(text: string): TraceParent | null {
  const { length } = text
  if (length < LENGTH || text.charCodeAt(2) !== 0x2d) return null
  if (text.charCodeAt(35) !== 0x2d || text.charCodeAt(52) !== 0x2d) return null
  const version = text.slice(0, 2)
  if (!isHex(text, 0, 2) || version === 'ff') return null
  // A later version may append fields behind another hyphen; this one may not.
  if (length > LENGTH && (version === '00' || text.charCodeAt(LENGTH) !== 0x2d)) return null
  if (!isHex(text, 3, 35) || !isHex(text, 36, 52) || !isHex(text, 53, 55)) return null
  if (isZero(text, 3, 35) || isZero(text, 36, 52)) return null
  return {
    traceId: text.slice(3, 35),
    parentId: text.slice(36, 52),
    sampled: (Number.parseInt(text.slice(53, 55), 16) & 1) === 1,
  }
}

/**
 * A `tracestate` that is fit to be forwarded: whole members from the left, up to 512 bytes and 32 members.
 * `''` when there is none, or one that cannot be read (W3C Trace Context, 3.3.1).
 */
export function boundedTraceState(text: string | undefined): string {
  if (text === undefined || text === '') return ''
  let kept = ''
  let count = 0
  for (const part of text.split(',', 4 * MOST_MEMBERS)) {
    const member = part.trim()
    if (member === '') continue
    if (!MEMBER.test(member)) return ''
    if (count === MOST_MEMBERS || kept.length + member.length + 1 > MOST_STATE) break
    kept += count === 0 ? member : `,${member}`
    count++
  }
  return kept
}

function isHex(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (!((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66))) return false
  }
  return true
}

function isZero(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (text.charCodeAt(i) !== 0x30) return false
  return true
}
