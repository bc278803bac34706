/** One HTTP/1.x connection: its exchanges in the order of their requests, and what waits behind them. */
import type { Socket } from 'node:net'
import type { ProxyError } from '../../errors.ts'
import { makePeer } from '../../headers/head.ts'
import type { Peer } from '../../pipeline/contract.ts'

/**
 * Exchanges that run at a time on one connection. Requests that were pipelined beyond them wait unopened, and nothing
 * more is read: each that runs may hold a connection to an upstream until those in front of it are answered.
 */
export const MOST_PIPELINED = 16

const CONNECTION = Symbol('connection')
/** Where a socket keeps what reads it in place of node:http. */
export const WIRE: unique symbol = Symbol('wire')

/** What reads a socket in place of node:http. */
export interface WireSide {
  readonly busy: boolean
  /** As {@link headsOf}. */
  readonly heads: number | 'busy' | null
  /** What is being read takes too long: 408. */
  timedOut(): void
}

type Owner = Socket & { [CONNECTION]?: Connection1; [WIRE]?: WireSide }

/** An exchange, as its connection sees it. */
export interface Link1 {
  /** The whole request has been read. */
  readonly complete: boolean
  /** What came instead of the rest of the request's body is no body. */
  breakBody(error: ProxyError): void
  /** The connection is gone. */
  closed(): void
}

/** A request that waits for its turn. */
export interface Waiting {
  readonly complete: boolean
  /** Why it will be refused, if anything came to light while it waited. */
  fault: ProxyError | null
  open(): void
}

/** State of a connection. Made with its first request; one listener a socket, none a request. */
export class Connection1 {
  readonly peer: Peer
  /** Nothing more that comes on the connection is read as a request. */
  refused = false
  /** Exchanges so far. */
  opened = 0
  /** Called when the last answer is out. */
  farewell: (() => void) | null = null
  readonly #socket: Socket
  readonly #links: Link1[] = []
  readonly #waiting: Waiting[] = []
  #pausing = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.peer = makePeer(socket)
  }

  get busy(): boolean {
    return this.#links.length > 0
  }

  /** One exchange runs, and its request is still being read. */
  get uploading(): boolean {
    return this.#links.length === 1 && !this.#links[0]!.complete
  }

  get full(): boolean {
    return this.#links.length >= MOST_PIPELINED
  }

  add(link: Link1): void {
    this.opened++
    this.#links.push(link)
  }

  /** An exchange is over: the next one may start. */
  remove(link: Link1): void {
    const links = this.#links
    // Answers leave in order: it is nearly always the first.
    if (links[0] === link) links.shift()
    else {
      const at = links.indexOf(link)
      if (at > 0) links.splice(at, 1)
    }
    if (this.#socket.destroyed) this.#waiting.length = 0
    else if (this.#waiting.length > 0) this.#openNext()
    if (links.length === 0 && this.farewell !== null) {
      const { farewell } = this
      this.farewell = null
      farewell()
    }
  }

  wait(request: Waiting): void {
    this.#waiting.push(request)
    if (this.#pausing) return
    this.#pausing = true
    // node:http reads on when it has read a request to its end, and does so in the next tick: this comes after it.
    process.nextTick(() =>
      process.nextTick(() => {
        this.#pausing = false
        if (this.#waiting.length > 0) this.#socket.pause()
      }),
    )
  }

  /** A head was refused: what was read behind it is no request either. */
  refuse(): void {
    this.refused = true
    this.#waiting.length = 0
  }

  /** No request has come behind this one. */
  isNewest(link: Link1): boolean {
    return this.#waiting.length === 0 && this.#links.at(-1) === link
  }

  /** The request that is still being read is broken. False: none is. */
  breakBody(error: ProxyError): boolean {
    const waiting = this.#waiting.at(-1)
    if (waiting) {
      if (waiting.complete) return false
      waiting.fault = error
      return true
    }
    const last = this.#links.at(-1)
    if (!last || last.complete) return false
    last.breakBody(error)
    return true
  }

  /** node:http tells the answer that owns the socket, but not those behind it. */
  close(): void {
    this.#waiting.length = 0
    this.farewell = null
    for (const link of this.#links.splice(0)) link.closed()
  }

  #openNext(): void {
    while (!this.full) {
      const next = this.#waiting.shift()
      if (!next) break
      next.open()
    }
    if (this.#waiting.length === 0) this.#socket.resume()
  }
}

/** The state of a socket's connection. */
export function connectionOf(socket: Socket): Connection1 {
  const owner = socket as Owner
  const known = owner[CONNECTION]
  if (known) return known
  const made = new Connection1(socket)
  owner[CONNECTION] = made
  socket.on('close', onClose)
  return made
}

/** True while an exchange runs on the socket. */
export function isBusy(socket: Socket): boolean {
  const owner = socket as Owner
  return owner[CONNECTION]?.busy === true || owner[WIRE]?.busy === true
}

/** What reads the socket in place of node:http. */
export function wireOf(socket: Socket): WireSide | null {
  return (socket as Owner)[WIRE] ?? null
}

/** How many heads have come on a socket; 'busy' while one is served, or when none is expected any more; `null` before the first. */
export function headsOf(socket: Socket): number | 'busy' | null {
  const connection = (socket as Owner)[CONNECTION]
  // The wire holds its connections to times of its own.
  if (connection === undefined) return (socket as Owner)[WIRE]?.heads ?? null
  return connection.busy || connection.refused ? 'busy' : connection.opened
}

function onClose(this: Socket): void {
  ;(this as Owner)[CONNECTION]!.close()
}
