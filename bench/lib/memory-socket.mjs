/** A connection without a network, for servers: what is fed comes in as it was cut, what goes out is kept. */
import { Duplex } from 'node:stream'

export class MemorySocket extends Duplex {
  /** All that the server wrote. */
  text = ''
  wasReset = false
  bytesRead = 0

  /** `id` is what the server takes for the client's port. */
  constructor(id) {
    super({ allowHalfOpen: true })
    this.remoteAddress = '127.0.0.1'
    this.remotePort = id
    this.on('error', () => {})
  }

  feed(bytes) {
    this.bytesRead += bytes.length
    if (!this.readableEnded && !this.destroyed) this.push(bytes)
  }

  finish() {
    if (!this.destroyed) this.push(null)
  }

  _read() {}

  _write(bytes, _encoding, done) {
    this.text += bytes.latin1Slice()
    done()
  }

  setNoDelay() {
    return this
  }

  setKeepAlive() {
    return this
  }

  setTimeout() {
    return this
  }

  destroySoon() {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  resetAndDestroy() {
    this.wasReset = true
    this.destroy()
  }
}
