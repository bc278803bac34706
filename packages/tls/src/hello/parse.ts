/**
 * Reads the ClientHello at the start of a connection (RFC 8446, 4.1.2; RFC 5246, 7.4.1.2): strict, bounded, without copies
 * of what is not needed. It decides nothing about the handshake: the same bytes then go to OpenSSL.
 */

/** What a ClientHello says, in its order. Numbers are IANA code points; GREASE (RFC 8701) is still in. */
export interface ClientHello {
  /** `legacy_version`; 0x0303 in TLS 1.2 and 1.3. */
  readonly version: number
  readonly ciphers: readonly number[]
  /** Types of all extensions. */
  readonly extensions: readonly number[]
  /** Lower case; `null` without the extension. */
  readonly serverName: string | null
  /** Protocols of ALPN as they were sent, one character a byte. */
  readonly protocols: readonly string[]
  readonly versions: readonly number[]
  readonly groups: readonly number[]
  readonly signatures: readonly number[]
  readonly pointFormats: readonly number[]
}

/** The most bytes that are held for a ClientHello, record headers included. */
export const MOST_HELLO_BYTES = 16_384

/** A hello; or why there is none: more bytes are needed, it is no TLS, or it breaks the rules. */
export type HelloResult = ClientHello | 'more' | 'not-tls' | 'invalid' | 'too-long'

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const EXTENSION = { serverName: 0, groups: 10, pointFormats: 11, signatures: 13, alpn: 16, versions: 43 }
const HOST = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/
/** Longest lists of numbers that are kept; no client comes near. */
const MOST_EXTENSIONS = 200

/**
 * The most records that one hello may be split into. Nobody needs more than a few; with one byte in each, every packet would cost a walk over
 * thousands.
 */
const MOST_RECORDS = 128

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Thrown inside only. */
class Invalid extends Error {}

/** Reads the ClientHello at the start of `bytes`, which may have come in pieces and be split into several records. */
export function parseClientHello(bytes: Uint8Array): HelloResult {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE) return 'not-tls'
  if (bytes.length > 1 && bytes[1] !== 3) return 'not-tls'
  const message = joinRecords(bytes)
  if (typeof message === 'string') return message
  try {
    return readHello(new Reader(message))
  } catch (error) {
    if (error instanceof Invalid) return 'invalid'
    throw error
  }
}

/** The handshake message behind its four bytes of header. */
function joinRecords(bytes: Uint8Array): Uint8Array | 'more' | 'invalid' | 'too-long' {
  const pieces: Uint8Array[] = []
  let have = 0
  let need = 4
  for (let at = 0; ; ) {
    if (at + 5 > bytes.length) return bytes.length >= MOST_HELLO_BYTES ? 'too-long' : 'more'
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3) return 'invalid'
    const length = (bytes[at + 3]! << 8) | bytes[at + 4]!
    // An empty handshake record is forbidden (RFC 8446, 5.1): a stream of them would never end.
    if (length === 0 || length > MOST_HELLO_BYTES || pieces.length === MOST_RECORDS) return 'invalid'
    const piece = bytes.subarray(at + 5, at + 5 + length)
    pieces.push(piece)
    have += piece.length
    if (need === 4 && have >= 4) {
      const head = pieces.length === 1 ? pieces[0]! : concat(pieces, have)
      if (head[0] !== CLIENT_HELLO) return 'invalid'
      need = 4 + ((head[1]! << 16) | (head[2]! << 8) | head[3]!)
      if (need + 5 > MOST_HELLO_BYTES) return 'too-long'
    } else if (have > 0 && pieces[0]![0] !== CLIENT_HELLO) return 'invalid'
    if (have >= need && need > 4) {
      const whole = pieces.length === 1 ? pieces[0]! : concat(pieces, have)
      return whole.subarray(4, need)
    }
    if (have >= need) return 'invalid'
    if (piece.length < length) return bytes.length >= MOST_HELLO_BYTES ? 'too-long' : 'more'
    at += 5 + length
  }
}

function readHello(reader: Reader): ClientHello {
  const version = reader.u16()
  reader.skip(32)
  if (reader.vector8().length > 32) throw new Invalid()
  const ciphers = reader.vector16().numbers()
  if (ciphers.length === 0) throw new Invalid()
  if (reader.vector8().length === 0) throw new Invalid()
  const hello: Writable<ClientHello> = {
    version,
    ciphers,
    extensions: [],
    serverName: null,
    protocols: [],
    versions: [],
    groups: [],
    signatures: [],
    pointFormats: [],
  }
  // Extensions may be missing as a whole, as in SSL 3 and early TLS.
  if (reader.length === 0) return hello
  const list = reader.vector16()
  if (reader.length > 0) throw new Invalid()
  const extensions: number[] = []
  hello.extensions = extensions
  while (list.length > 0) {
    const type = list.u16()
    const body = list.vector16()
    if (extensions.length === MOST_EXTENSIONS || extensions.includes(type)) throw new Invalid()
    extensions.push(type)
    if (type === EXTENSION.serverName) hello.serverName = readServerName(body)
    else if (type === EXTENSION.groups) hello.groups = body.only(body.vector16()).numbers()
    else if (type === EXTENSION.signatures) hello.signatures = body.only(body.vector16()).numbers()
    else if (type === EXTENSION.versions) hello.versions = body.only(body.vector8()).numbers()
    else if (type === EXTENSION.pointFormats) hello.pointFormats = body.only(body.vector8()).octets()
    else if (type === EXTENSION.alpn) hello.protocols = readProtocols(body)
  }
  return hello
}

/** Exactly one DNS name (RFC 6066, 3). */
function readServerName(body: Reader): string {
  const list = body.only(body.vector16())
  if (list.u8() !== 0) throw new Invalid()
  const name = list.only(list.vector16()).text().toLowerCase()
  const plain = name.endsWith('.') ? name.slice(0, -1) : name
  if (plain.length > 253 || !HOST.test(plain)) throw new Invalid()
  return plain
}

function readProtocols(body: Reader): string[] {
  const list = body.only(body.vector16())
  const protocols: string[] = []
  while (list.length > 0) {
    const protocol = list.vector8().text()
    if (protocol === '') throw new Invalid()
    protocols.push(protocol)
  }
  if (protocols.length === 0) throw new Invalid()
  return protocols
}

/** Walks over a part of bytes, without copies or views of it; every step beyond its end is {@link Invalid}. */
class Reader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #at: number

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = at
    this.#end = end
  }

  /** Bytes that are left. */
  get length(): number {
    return this.#end - this.#at
  }

  u8(): number {
    if (this.#at === this.#end) throw new Invalid()
    return this.#bytes[this.#at++]!
  }

  u16(): number {
    const at = this.#at
    if (this.#end - at < 2) throw new Invalid()
    this.#at = at + 2
    return (this.#bytes[at]! << 8) | this.#bytes[at + 1]!
  }

  skip(count: number): void {
    if (count > this.length) throw new Invalid()
    this.#at += count
  }

  vector8(): Reader {
    return this.#part(this.u8())
  }

  vector16(): Reader {
    return this.#part(this.u16())
  }

  /** Gives `part` back when it was the last thing here. */
  only(part: Reader): Reader {
    if (this.length > 0) throw new Invalid()
    return part
  }

  /** What is left, one character a byte. */
  text(): string {
    const { buffer, byteOffset } = this.#bytes
    return Buffer.from(buffer, byteOffset + this.#at, this.length).toString('latin1')
  }

  /** What is left, as numbers of one byte. */
  octets(): number[] {
    const numbers: number[] = []
    for (let at = this.#at; at < this.#end; at++) numbers.push(this.#bytes[at]!)
    return numbers
  }

  /** What is left, as numbers of two bytes. */
  numbers(): number[] {
    const bytes = this.#bytes
    const end = this.#end
    if (this.length % 2 !== 0) throw new Invalid()
    const numbers: number[] = []
    for (let at = this.#at; at < end; at += 2) numbers.push((bytes[at]! << 8) | bytes[at + 1]!)
    return numbers
  }

  #part(length: number): Reader {
    const at = this.#at
    if (length > this.#end - at) throw new Invalid()
    this.#at = at + length
    return new Reader(this.#bytes, at, at + length)
  }
}

function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  return Buffer.concat(pieces, length)
}
