/** The chunked coding, written (RFC 9112, 7.1). */
import { isFieldName, isFieldValue } from '../../headers/list.ts'

/** A body without trailers ends with it. */
export const LAST_CHUNK = '0\r\n\r\n'
/** Behind the data of a chunk. */
export const CHUNK_END = '\r\n'

/** Chunks up to this are copied into one buffer with their frame: cheaper than three pieces. */
const COPIED = 4096

/** What stands before the data of a chunk. `length` is above 0: an empty chunk would be the last. */
export function chunkHead(length: number): string {
  return `${length.toString(16)}\r\n`
}

/** What takes the pieces of a message: a socket. */
export interface ByteWriter {
  cork(): void
  uncork(): void
  write(data: Uint8Array): boolean
  write(data: string, encoding: 'latin1'): boolean
}

/** Writes a chunk; false when the writer wants a pause. Nothing is written for no bytes. */
export function writeChunk(writer: ByteWriter, bytes: Uint8Array): boolean {
  const { length } = bytes
  if (length === 0) return true
  const head = chunkHead(length)
  if (length <= COPIED) {
    const begin = head.length
    const framed = Buffer.allocUnsafe(begin + length + 2)
    framed.write(head, 0, begin, 'latin1')
    framed.set(bytes, begin)
    framed[begin + length] = 13
    framed[begin + length + 1] = 10
    return writer.write(framed)
  }
  writer.cork()
  writer.write(head, 'latin1')
  writer.write(bytes)
  const more = writer.write(CHUNK_END, 'latin1')
  writer.uncork()
  return more
}

/** The last chunk with its trailer section. Lines that could not stand there are left out. */
export function lastChunk(trailers: readonly string[] | null): string {
  if (trailers === null || trailers.length === 0) return LAST_CHUNK
  let text = '0\r\n'
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    const value = trailers[i + 1]!
    if (isFieldName(name) && isFieldValue(value)) text += `${name}: ${value}\r\n`
  }
  return `${text}\r\n`
}
