/** One timer for many sockets that all have the same time: the oldest is always the first to end. */
import type { Socket } from 'node:net'

/** Destroys sockets that stay longer than `limit` ms. */
export class SocketDeadlines {
  readonly #limit: number
  readonly #ended: (socket: Socket) => void
  // A Map keeps the order of arrival.
  readonly #since = new Map<Socket, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(limit: number, ended: (socket: Socket) => void) {
    this.#limit = limit
    this.#ended = ended
  }

  add(socket: Socket): void {
    this.#since.set(socket, performance.now())
    this.#timer ??= setTimeout(() => this.#sweep(), this.#limit).unref()
  }

  delete(socket: Socket): void {
    this.#since.delete(socket)
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    for (const socket of this.#since.keys()) socket.destroy()
    this.#since.clear()
  }

  #sweep(): void {
    this.#timer = null
    const now = performance.now()
    for (const [socket, since] of this.#since) {
      const left = since + this.#limit - now
      if (left > 0) {
        this.#timer = setTimeout(() => this.#sweep(), Math.ceil(left)).unref()
        return
      }
      this.#since.delete(socket)
      this.#ended(socket)
      socket.destroy()
    }
  }
}
