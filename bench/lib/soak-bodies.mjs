/** Bodies that belong to one request alone, so that a wrong, mixed or shortened one has another hash. */
import { createHash } from 'node:crypto'

const MOST_BLOCKS = 2048

export const hashOf = bytes => createHash('sha256').update(bytes).digest('hex')

/** Bytes that only this text gives: 32 bytes to 64 KiB, most of them short. */
export function bytesOf(text) {
  const seed = createHash('sha256').update(text).digest()
  const blocks = seed[0] < 200 ? 1 + (seed[1] % 32) : 1 + ((seed[1] * 256 + seed[2]) % MOST_BLOCKS)
  const bytes = Buffer.allocUnsafe(32 * blocks)
  for (let i = 0; i < blocks; i++) seed.copy(bytes, 32 * i)
  // Blocks differ too: what is left out in the middle shows.
  for (let i = 0; i < blocks; i++) bytes.writeUInt32BE((bytes.readUInt32BE(32 * i) + i) >>> 0, 32 * i)
  return bytes
}

/** What a sound target answers: it depends on the path and on each byte of the request's body. */
export function answerTo(path, requestHash) {
  return bytesOf(`answer ${path} ${requestHash}`)
}
