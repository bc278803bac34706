/** Heads of HTTP/1.x that do not come to an end: Slowloris, and what is left of an upload behind its answer. */
import type { Server, Socket } from 'node:net'
import { type MinimumRate, Pace, type Sender } from '../clients/minimum-rate.ts'
import { headsOf } from './connection1.ts'

/** One connection. node:http tells of a head when it is whole: until then only the bytes can be seen. */
class HeadWatch implements Sender {
  readonly pace: Pace = new Pace()
  readonly #socket: Socket
  readonly #onSlow: (socket: Socket) => void
  #heads = -1
  /** Bytes when the last exchange ended, or was seen. */
  #base = 0

  constructor(socket: Socket, onSlow: (socket: Socket) => void) {
    this.#socket = socket
    this.#onSlow = onSlow
  }

  get received(): number {
    return this.#socket.bytesRead
  }

  /** A new connection owes its first head; later ones begin with their first byte (what is idle, node:http ends). */
  get due(): boolean {
    const heads = headsOf(this.#socket)
    if (heads === null) return true
    if (heads === 'busy') this.#heads = -1
    else if (heads === this.#heads) return this.#socket.bytesRead > this.#base
    else this.#heads = heads
    this.#base = this.#socket.bytesRead
    return false
  }

  tooSlow(): void {
    this.#onSlow(this.#socket)
  }
}

/** Watches the connections of a server that speak HTTP/1.x. */
export function watchHeads(
  server: Server,
  plain: boolean,
  heads: MinimumRate,
  onSlow: (socket: Socket) => void,
): void {
  const watch = (socket: Socket): void => {
    if (socket.destroyed) return
    const sender = new HeadWatch(socket, onSlow)
    heads.add(sender)
    socket.once('close', () => heads.remove(sender))
  }
  if (plain) server.on('connection', watch)
  server.on('secureConnection', (socket: Socket & { alpnProtocol?: string | false }) => {
    if (socket.alpnProtocol !== 'h2') watch(socket)
  })
}
