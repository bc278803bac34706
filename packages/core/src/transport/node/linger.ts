/** Closing while the client still sends (RFC 9112, 9.6): an early RST would destroy the answer on its way. */
import type { Socket } from 'node:net'

/** After the last answer, what still comes is read and dropped for this long, in ms, and no more than this many bytes. */
const LINGER_MS = 2000
const LINGER_BYTES = 16 << 20

/** Makes the next `destroySoon()` of a socket send FIN first and wait for the client's. */
export function lingerOnClose(socket: Socket): void {
  if (Object.hasOwn(socket, 'destroySoon')) return
  socket.destroySoon = function closeWithLinger(this: Socket): void {
    this.destroySoon = () => {}
    if (this.readableEnded) {
      this.end(() => this.destroy())
      return
    }
    const start = this.bytesRead
    const limit = setTimeout(() => this.destroy(), LINGER_MS).unref()
    this.once('close', () => clearTimeout(limit))
    this.once('end', () => this.destroy())
    this.on('data', () => {
      if (this.bytesRead - start > LINGER_BYTES) this.destroy()
    })
    this.end()
    this.resume()
  }
}
