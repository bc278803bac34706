/**
 * Ends what takes too long, for all connections of a server: one look at all of them now and then, instead of a timer or a
 * time stamp a request. Never early; late by two looks at the most.
 */
import type { Waiting, WireConnection } from './connection.ts'

/** What was seen of a connection at the last look. */
export interface Seen {
  waiting: Waiting
  count: number
  /** When this was seen first. */
  since: number
}

/** How long things may take, in ms; 0 for no limit. Asked for at each look. */
export interface Limits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly sendTimeout: number
}

const SHORTEST = 20
const LONGEST = 1000

/** Runs while there are connections. */
export class WireClock {
  readonly #limits: Limits
  readonly #connections: ReadonlySet<WireConnection>
  #timer: NodeJS.Timeout | null = null

  constructor(limits: Limits, connections: ReadonlySet<WireConnection>) {
    this.#limits = limits
    this.#connections = connections
  }

  /** A connection has come. */
  start(): void {
    this.#timer ??= setTimeout(this.#look, this.#pause()).unref()
  }

  /** An eighth of what is shortest. */
  #pause(): number {
    const { headersTimeout, requestTimeout, keepAliveTimeout, sendTimeout } = this.#limits
    let least = 8 * LONGEST
    for (const limit of [headersTimeout, requestTimeout, keepAliveTimeout, sendTimeout]) {
      if (limit > 0 && limit < least) least = limit
    }
    return Math.max(SHORTEST, least / 8)
  }

  readonly #look = (): void => {
    this.#timer = null
    const now = performance.now()
    for (const connection of this.#connections) this.#lookAt(connection, now)
    if (this.#connections.size > 0) this.start()
  }

  #lookAt(connection: WireConnection, now: number): void {
    const { seen, waiting } = connection
    if (seen.waiting !== waiting || seen.count !== connection.count) {
      seen.waiting = waiting
      seen.count = connection.count
      seen.since = now
      return
    }
    const limit = this.#limitOf(waiting)
    if (waiting === 'answer') connection.output.watch()
    else if (limit > 0 && now - seen.since >= limit) {
      seen.since = now
      if (waiting === 'next') connection.close()
      else connection.timedOut()
    }
  }

  #limitOf(waiting: Waiting): number {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = this.#limits
    switch (waiting) {
      case 'first':
      case 'head':
        return headersTimeout > 0 ? headersTimeout : requestTimeout
      case 'body':
        return requestTimeout
      case 'next':
        return keepAliveTimeout
    }
    return 0
  }
}
