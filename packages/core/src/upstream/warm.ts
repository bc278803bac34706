/** Connections opened before the first request wants one. */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { warmed } from './tracked-client.ts'

/** Opens connections once, and hands them out instead of new ones. What nobody takes in time is closed. */
export class WarmConnections {
  readonly #connect: buildConnector.connector
  readonly #keepAlive: number
  readonly #idle: { socket: Socket; gone: () => void }[] = []
  #closed = false

  /** `keepAlive` in ms: how long one waits to be wanted. */
  constructor(connect: buildConnector.connector, keepAlive: number) {
    this.#connect = connect
    this.#keepAlive = keepAlive
  }

  /** Opens `count` connections. A failure is nobody's: the first request will meet it too. */
  open(target: buildConnector.Options, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#connect(target, (...[error, socket]) => {
        if (error || !socket) return
        if (this.#closed) socket.destroy()
        else this.#keep(socket as Socket)
      })
    }
  }

  /** An open connection, or `null`. */
  take(): Socket | null {
    const idle = this.#idle.pop()
    if (idle === undefined) return null
    for (const event of ENDS) idle.socket.off(event, idle.gone)
    idle.socket.setTimeout(0).off('timeout', idle.gone).ref()
    return idle.socket
  }

  /** Connections that wait. */
  get size(): number {
    return this.#idle.length
  }

  close(): void {
    this.#closed = true
    for (const { gone } of [...this.#idle]) gone()
  }

  #keep(socket: Socket): void {
    warmed.add(socket)
    const gone = (): void => {
      const at = this.#idle.findIndex(idle => idle.socket === socket)
      if (at !== -1) this.#idle.splice(at, 1)
      socket.destroy()
    }
    socket.unref()
    for (const event of ENDS) socket.on(event, gone)
    socket.setTimeout(this.#keepAlive, gone)
    this.#idle.push({ socket, gone })
  }
}

/** Also bytes that nobody asked for: what follows them could not be told from an answer. */
const ENDS = ['error', 'end', 'close', 'readable'] as const
