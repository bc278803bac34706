/** Reads DER (ITU-T X.690), strictly: definite lengths in their shortest form, nothing beyond the end. */

/** One value: its tag, and where its contents lie. */
export interface DerValue {
  readonly tag: number
  /** Contents, without tag and length. A view, not a copy. */
  readonly contents: Uint8Array
  /** Tag, length and contents. A view, not a copy. */
  readonly whole: Uint8Array
}

/** Members of a list that are read at most. */
const MOST_CHILDREN = 10_000

/** Reads one value that fills `bytes` to the end. @throws RangeError for what is not DER. */
export function readDer(bytes: Uint8Array): DerValue {
  const value = valueAt(bytes, 0)
  if (value.whole.length !== bytes.length) throw new RangeError('bytes follow a DER value')
  return value
}

/** Reads the values inside a constructed one. @throws RangeError for what is not DER. */
export function derChildren(value: DerValue | Uint8Array): DerValue[] {
  const bytes = value instanceof Uint8Array ? value : value.contents
  const children: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    if (children.length === MOST_CHILDREN) throw new RangeError('a DER list is too long')
    const child = valueAt(bytes, at)
    children.push(child)
    at += child.whole.length
  }
  return children
}

/** Dotted form of an object identifier's contents. */
export function readObjectId(contents: Uint8Array): string {
  const arcs: number[] = []
  let arc = 0
  for (const [index, byte] of contents.entries()) {
    if (arc > 2 ** 45) throw new RangeError('an object identifier is too long')
    arc = arc * 128 + (byte & 0x7f)
    if (byte & 0x80) {
      if (index === contents.length - 1) throw new RangeError('an object identifier is cut')
      continue
    }
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(arc / 40))
      arcs.push(first, arc - first * 40)
    } else arcs.push(arc)
    arc = 0
  }
  if (arcs.length === 0) throw new RangeError('an object identifier is empty')
  return arcs.join('.')
}

/** Milliseconds since 1970 of a UTCTime or GeneralizedTime as RFC 5280, 4.1.2.5 writes them. */
export function readTime({ tag, contents }: DerValue): number {
  const text = Buffer.from(contents).toString('latin1')
  const digits = tag === 0x17 ? (Number(text.slice(0, 2)) < 50 ? `20${text}` : `19${text}`) : text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
  if (!parts || (tag !== 0x17 && tag !== 0x18)) throw new RangeError('a time is not in the form of RFC 5280')
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ]
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

function valueAt(bytes: Uint8Array, at: number): DerValue {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined) throw new RangeError('a DER value is cut')
  if ((tag & 0x1f) === 0x1f) throw new RangeError('a DER tag has several bytes')
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const count = first & 0x7f
    if (count === 0 || count > 4) throw new RangeError('a DER length is indefinite or too long')
    length = 0
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[start + i] ?? Number.NaN)
    start += count
    if (!(length >= 0x80) || length < 256 ** (count - 1)) {
      throw new RangeError('a DER length is cut or not in its shortest form')
    }
  }
  const end = start + length
  if (end > bytes.length) throw new RangeError('a DER value is cut')
  return { tag, contents: bytes.subarray(start, end), whole: bytes.subarray(at, end) }
}
