/** Keeps what a server said before it closed: an answer may be there although writing the upload has failed. */
import type { Socket } from 'node:net'

/** How long the answer may still take once a write has failed, in ms. */
const PATIENCE = 1000

type WriteCallback = (error?: Error | null) => void
type Writes = {
  _write(chunk: unknown, encoding: string, done: WriteCallback): void
  _writev(chunks: unknown[], done: WriteCallback): void
}

/**
 * A server that answers early may close with the upload unread (RFC 9112, 9.6). Node destroys a socket whose write fails,
 * and with it the answer that has arrived but was not read yet. Here such a write stays open instead: reading goes on until
 * the server's end is seen, or for a second. Once done to a socket, it is not done again.
 */
export function readOnAfterBrokenWrite(socket: Socket): void {
  if (Object.hasOwn(socket, '_write')) return
  const writes = socket as unknown as Writes
  const { _write, _writev } = writes
  const kept = (done: WriteCallback): WriteCallback => {
    return error => {
      if (!error || !isBroken(error) || socket.readableEnded) return done(error)
      const limit = setTimeout(() => socket.destroy(error), PATIENCE).unref()
      socket.once('close', () => clearTimeout(limit))
    }
  }
  // undici writes heads as strings: only uploads pay for the closure.
  writes._write = function write(chunk, encoding, done) {
    _write.call(this, chunk, encoding, typeof chunk === 'string' ? done : kept(done))
  }
  writes._writev = function writev(chunks, done) {
    _writev.call(this, chunks, kept(done))
  }
}

function isBroken(error: Error & { code?: string }): boolean {
  return error.code === 'EPIPE' || error.code === 'ECONNRESET'
}
