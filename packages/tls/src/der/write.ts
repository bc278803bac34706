/** Writes DER (ITU-T X.690): the few types of ASN.1 that a certificate is made of. */

const SEQUENCE = 0x30
const SET = 0x31
const UTC_LAST_YEAR = 2049

/** Length octets in the shortest form (X.690, 10.1). */
export function derLength(length: number): Uint8Array {
  if (!Number.isSafeInteger(length) || length < 0) throw new RangeError('a length is a whole number')
  if (length < 0x80) return Uint8Array.of(length)
  const bytes: number[] = []
  // Not shifts: they stop at 32 bits.
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Uint8Array.of(0x80 | bytes.length, ...bytes)
}

/** Tag, length, contents. */
export function derValue(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(contents)
  return Buffer.concat([Uint8Array.of(tag), derLength(body.length), body])
}

export function derSequence(...parts: readonly Uint8Array[]): Uint8Array {
  return derValue(SEQUENCE, ...parts)
}

/** A SET OF one value; more would have to be sorted. */
export function derSetOfOne(part: Uint8Array): Uint8Array {
  return derValue(SET, part)
}

export function derBoolean(value: boolean): Uint8Array {
  return derValue(0x01, Uint8Array.of(value ? 0xff : 0))
}

/** A whole number that is not negative, from its big-endian bytes: no needless zeros, and none read as a sign. */
export function derInteger(magnitude: Uint8Array): Uint8Array {
  let start = 0
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++
  const digits = magnitude.subarray(start)
  const sign = digits.length === 0 || digits[0]! >= 0x80 ? [0] : []
  return derValue(0x02, Uint8Array.from(sign), digits)
}

/** A BIT STRING whose last byte has `unused` bits that do not count. */
export function derBitString(bytes: Uint8Array, unused = 0): Uint8Array {
  return derValue(0x03, Uint8Array.of(unused), bytes)
}

export function derOctetString(bytes: Uint8Array): Uint8Array {
  return derValue(0x04, bytes)
}

/** An object identifier from its dotted form. */
export function derObjectId(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...arcs] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...arcs].flatMap(base128)
  return derValue(0x06, Uint8Array.from(bytes))
}

export function derUtf8String(text: string): Uint8Array {
  return derValue(0x0c, Buffer.from(text, 'utf8'))
}

/** `[number] EXPLICIT`: the value with its own tag inside. */
export function derExplicit(number: number, value: Uint8Array): Uint8Array {
  return derValue(0xa0 | number, value)
}

/** `[number] IMPLICIT` of a primitive type: the contents alone. */
export function derImplicit(number: number, contents: Uint8Array): Uint8Array {
  return derValue(0x80 | number, contents)
}

/** UTCTime to the end of 2049, GeneralizedTime after (RFC 5280, 4.1.2.5); whole seconds, Zulu. */
export function derTime(date: Date): Uint8Array {
  const year = date.getUTCFullYear()
  if (!(year >= 1950 && year <= 9999)) throw new RangeError('a date is outside the years 1950 to 9999')
  const digits = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  return year <= UTC_LAST_YEAR
    ? derValue(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : derValue(0x18, Buffer.from(digits, 'latin1'))
}

function base128(arc: number): number[] {
  const bytes = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift(0x80 | (rest % 128))
  }
  return bytes
}
