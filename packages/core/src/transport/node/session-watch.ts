/** HTTP/2 sessions that never begin, and such as are kept alive by bytes that make up no frame: Slowloris for HTTP/2. */
import type { ServerHttp2Session } from 'node:http2'
import type { SlowCounts } from '../clients/guard.ts'
import type { StreamSet } from './stream-set.ts'

/** One session. Node tells of heads when they are whole, and of PING and SETTINGS: what it does not tell of is no sign of life. */
export class SessionWatch {
  readonly session: ServerHttp2Session
  readonly #streams: StreamSet
  readonly #slow: SlowCounts
  readonly #grace: number
  readonly #idle: number
  #begun = false
  #opened = 0
  #heardAt: number = performance.now()

  /** `grace` for the preface and the first SETTINGS, `idle` for silence behind the last request, both in ms. */
  constructor(
    session: ServerHttp2Session,
    streams: StreamSet,
    slow: SlowCounts,
    grace: number,
    idle: number,
  ) {
    this.session = session
    this.#streams = streams
    this.#slow = slow
    this.#grace = grace
    this.#idle = idle
  }

  begun(): void {
    this.#begun = true
  }

  /** A frame has come that only a living client sends. */
  heard(): void {
    this.#heardAt = performance.now()
  }

  look(): void {
    const { session } = this
    if (session.destroyed) return
    const { opened, size } = this.#streams
    if (size > 0 || opened !== this.#opened) {
      this.#opened = opened
      this.heard()
      return
    }
    const silent = performance.now() - this.#heardAt
    if (!this.#begun && opened === 0) {
      if (silent <= this.#grace) return
      this.#slow.heads++
      session.destroy()
    } else if (silent > this.#idle) {
      // A frame that is not whole keeps Node from ending a session that is closed.
      if (session.closed) session.destroy()
      else session.close()
    }
  }
}
