/** TLS handshakes under way, by the two ends of their connection: what is built on a socket does not give it away. */
import type { Socket } from 'node:net'
import { type Deadline, Deadlines, noDeadline } from '../../proxy/deadlines.ts'

class Handshake implements Deadline {
  readonly deadline: Deadline['deadline'] = noDeadline()
  readonly socket: Socket
  readonly #onLate: () => void

  constructor(socket: Socket, onLate: () => void) {
    this.socket = socket
    this.#onLate = onLate
  }

  /** `handshakeTimeout` of Node only tells; nobody would close the socket. */
  onDeadline(): void {
    this.#onLate()
    this.socket.destroy()
  }
}

/** Ends those that take too long, with one timer. */
export class Handshakes {
  readonly #open = new Map<string, Handshake>()
  readonly #deadlines: Deadlines
  readonly #onLate: () => void

  /** `limit` in ms; `onLate` is called for each that is ended. */
  constructor(limit: number, onLate: () => void) {
    this.#deadlines = new Deadlines(limit)
    this.#onLate = onLate
  }

  begin(ends: string, socket: Socket): void {
    this.end(ends)
    const handshake = new Handshake(socket, this.#onLate)
    this.#open.set(ends, handshake)
    this.#deadlines.add(handshake)
  }

  /** It is done, or its connection is gone. */
  end(ends: string | null): void {
    if (ends === null) return
    const handshake = this.#open.get(ends)
    if (handshake === undefined) return
    this.#open.delete(ends)
    this.#deadlines.remove(handshake)
  }

  *[Symbol.iterator](): Generator<Socket> {
    for (const { socket } of this.#open.values()) yield socket
  }
}
