/** Changes the ticket keys of servers when their time comes. */
import type { Server } from 'node:tls'
import type { TlsLog } from '../events.ts'
import { TICKET_KEY_BYTES, type TicketKeyProvider, type TicketKeySet } from './keys.ts'
import { overlapKeys } from './overlap.ts'

/** The longest and shortest time between two questions, and the time after a failure, in ms. */
const LONGEST = 3_600_000
const SHORTEST = 1000
const RETRY = 60_000

/** The keys of a store's servers. */
export class TicketRotation {
  readonly #provider: TicketKeyProvider
  readonly #overlap: boolean
  readonly #log: TlsLog
  readonly #clock: () => number
  readonly #servers: ReadonlySet<Server>
  #keys: TicketKeySet | null = null
  #timer: NodeJS.Timeout | null = null
  #closed = false

  constructor(
    provider: TicketKeyProvider,
    overlap: boolean,
    servers: ReadonlySet<Server>,
    log: TlsLog,
    clock: () => number,
  ) {
    this.#provider = provider
    this.#overlap = overlap
    this.#servers = servers
    this.#log = log
    this.#clock = clock
  }

  /** The key that encrypts now. */
  get current(): Buffer {
    return Buffer.from(this.#keys!.current)
  }

  /** Asks the provider and gives its keys to the servers. @throws Error when there never were any. */
  async turn(): Promise<void> {
    let wait = RETRY
    try {
      const keys = await this.#provider.keysAt(this.#clock())
      if (![keys.current, ...keys.previous].every(key => key.length === TICKET_KEY_BYTES)) {
        throw new Error(`a key has ${TICKET_KEY_BYTES} bytes`)
      }
      const changed = this.#keys === null || !Buffer.from(keys.current).equals(this.#keys.current)
      this.#keys = keys
      if (changed) for (const server of this.#servers) this.give(server)
      wait = Math.min(LONGEST, Math.max(SHORTEST, keys.until - this.#clock()))
    } catch (error) {
      const message = `no new keys for session tickets: ${(error as Error).message}`
      if (this.#keys === null) throw new Error(message)
      this.#log({ level: 'error', kind: 'tickets', message })
    }
    if (this.#timer) clearTimeout(this.#timer)
    if (!this.#closed) this.#timer = setTimeout(() => void this.turn(), wait).unref()
  }

  /** Gives a server the current keys. */
  give(server: Server): void {
    server.setTicketKeys(this.current)
    if (this.#overlap && !overlapKeys(server, this.#keys!)) {
      this.#log({ level: 'warn', kind: 'tickets', message: 'this Node cannot keep tickets of previous keys' })
    }
  }

  close(): void {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
  }
}
