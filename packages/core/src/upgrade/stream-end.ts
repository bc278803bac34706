/** Whole streams of HTTP/2, told from cut ones. */
import type { Http2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'

/**
 * Returns a function that is true once END_STREAM has come. Node ends the readable of a stream that
 * RST_STREAM(NO_ERROR) or a lost connection has cut just like that of a whole one, but such a stream is closed
 * before its end is pushed; a whole one is not. `already`: what was known before.
 */
export function endsWhole(
  stream: Http2Stream & Duplex,
  already = false,
  onWhole?: () => void,
): () => boolean {
  let whole = already
  const { push } = stream
  stream.push = function pushOrEnd(chunk: unknown, encoding?: BufferEncoding) {
    if (chunk === null && !stream.closed && !whole) {
      whole = true
      onWhole?.()
    }
    return push.call(stream, chunk, encoding)
  }
  return () => whole
}
