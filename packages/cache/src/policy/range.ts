/** Ranges of bytes (RFC 9110, 14), and parts that make a whole (RFC 9111, 3.4). */
import { isStrong } from './etag.ts'

/** One range of a request: from `first` to `last` or the end, or the last `suffix` bytes. */
export interface RangeSpec {
  readonly first: number | null
  readonly last: number | null
}

/** Bytes from `first` to `last`, both included, of `total`. */
export interface Part {
  readonly first: number
  readonly last: number
  readonly total: number
}

/** A single range, or `null`: none, several, or another unit. Those are answered with the whole. */
export function parseRange(value: string): RangeSpec | null {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(value)
  if (match === null || (match[1] === '' && match[2] === '')) return null
  const first = match[1] === '' ? null : Number(match[1])
  const last = match[2] === '' ? null : Number(match[2])
  return first !== null && last !== null && last < first ? null : { first, last }
}

/** The bytes that a range means in a representation of `total` bytes; `null` when there are none: 416. */
export function resolveRange({ first, last }: RangeSpec, total: number): Part | null {
  if (first === null) {
    if (last === 0 || total === 0) return null
    return { first: Math.max(0, total - last!), last: total - 1, total }
  }
  if (first >= total) return null
  return { first, last: Math.min(last ?? Infinity, total - 1), total }
}

/** Reads a `Content-Range`; `null` unless it is whole and possible. */
export function parseContentRange(value: string | undefined): Part | null {
  const match = value === undefined ? null : /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(value.trim())
  if (match === null) return null
  const part = { first: Number(match[1]), last: Number(match[2]), total: Number(match[3]) }
  return part.first <= part.last && part.last < part.total ? part : null
}

/** Writes a `Content-Range`. */
export function contentRange({ first, last, total }: Part): string {
  return `bytes ${first}-${last}/${total}`
}

export function lengthOf({ first, last }: Part): number {
  return last - first + 1
}

/** True when `inner` lies in `outer`. */
export function covers(outer: Part, inner: Part): boolean {
  return outer.total === inner.total && outer.first <= inner.first && inner.last <= outer.last
}

/** What is missing of the whole when it is one stretch: its range; `null` when there are two, or none. */
export function missingRange({
  first,
  last,
  total,
}: Part): { field: string; side: 'before' | 'after' } | null {
  if (first === 0 && last < total - 1) return { field: `bytes=${last + 1}-`, side: 'after' }
  if (first > 0 && last === total - 1) return { field: `bytes=0-${first - 1}`, side: 'before' }
  return null
}

/** A part with its bytes and the validator that says which representation it is of. */
export interface PartBytes {
  readonly part: Part
  readonly body: Uint8Array
  readonly etag: string | undefined
}

/** Both as one, when they are of the same representation by a strong tag, and touch; else `null`. */
export function combineParts(a: PartBytes, b: PartBytes): { part: Part; body: Uint8Array } | null {
  if (!isStrong(a.etag) || a.etag !== b.etag || a.part.total !== b.part.total) return null
  const [left, right] = a.part.first <= b.part.first ? [a, b] : [b, a]
  if (right.part.first > left.part.last + 1) return null
  const part = {
    first: left.part.first,
    last: Math.max(left.part.last, right.part.last),
    total: left.part.total,
  }
  const body = new Uint8Array(lengthOf(part))
  body.set(left.body, 0)
  body.set(right.body, right.part.first - part.first)
  return { part, body }
}
