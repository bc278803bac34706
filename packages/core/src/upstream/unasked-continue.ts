/** Takes `100 Continue` off a connection before undici sees it: undici never asks for one, and calls it an error. */
import type { Readable } from 'node:stream'

const START = 'HTTP/1.1 100'
/** Longest head of a 100 that is waited for. */
const MOST = 16_384

/**
 * Stands between a socket and its reader (RFC 9110, 15.2: a client must take a 100 that it did not ask for). It looks at
 * the first bytes of each answer only, and leaves everything that is not plainly a 100 as it came.
 */
export class ContinueFilter {
  /** An answer begins with the next bytes. */
  armed = false
  #held: Buffer | null = null

  constructor(socket: Readable) {
    const { read } = socket
    socket.read = size => {
      const chunk: Buffer | null = read.call(socket, size)
      return chunk !== null && this.armed ? this.#next(chunk) : chunk
    }
  }

  #next(chunk: Buffer): Buffer | null {
    let bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = null
    for (;;) {
      if (bytes.length === 0) return null
      if (!isContinue(bytes)) {
        this.armed = false
        return bytes
      }
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0 && bytes.length <= MOST) {
        this.#held = bytes
        return null
      }
      if (end < 0) {
        this.armed = false
        return bytes
      }
      bytes = bytes.subarray(end + 4)
    }
  }
}

/** True for the beginning of a 100, however short. */
function isContinue(bytes: Buffer): boolean {
  // The digit that tells nearly all answers from it.
  if (bytes.length > 9 && bytes[9] !== 0x31) return false
  const start = bytes.toString('latin1', 0, Math.min(bytes.length, START.length))
  return START.startsWith(start) && (bytes.length <= START.length || bytes[12] === 0x20 || bytes[12] === 0x0d)
}
