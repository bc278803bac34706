/** The app behind a server, which may be swapped while it runs: new requests get the new one, the others end on theirs. */
import { callback, milliseconds, readOptions, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault, ProxyError } from '../errors.ts'
import { checkApp } from '../pipeline/check-app.ts'
import type {
  App,
  Awaitable,
  ClientLink,
  OpenExchange,
  Outcome,
  Reply,
  RequestHead,
  Source,
} from '../pipeline/contract.ts'

/** Options of `swap()`. */
export interface SwapOptions {
  /**
   * Looks at the new app before it serves anybody, for example by `app.inject()`. It refuses by throwing or by `false`.
   * Default: none; then the new app serves when `swap()` returns, not a tick later.
   */
  check?: (app: App) => unknown
  /** How long `check` may take, in ms; default 10 000. */
  checkTimeout?: number
  /**
   * How long what runs on the old app may go on, in ms; then it is cut: 503 where no answer has begun, 1001 for WebSockets,
   * a reset for the rest. Default: as long as it takes.
   */
  limit?: number
}

/** A swap that has taken effect. */
export interface Swapped {
  /** Resolves when the last exchange and the last tunnel of the old app is over: its upstreams may be closed then. */
  readonly retired: Promise<void>
}

/** What can change its app while it serves. */
export interface Swappable {
  /**
   * Puts another app in the place of the running one: routes, gates and upstreams at once. What has begun ends on the old app,
   * WebSockets included; a request that begins afterwards gets the new one, also on a connection that is open. The old app's
   * upstreams stay open: close them when `retired` has resolved. Of several swaps the last call wins.
   * @example
   * const { retired } = await edge.swap(next, { check: app => app.inject({ path: '/healthz' }) })
   * await retired
   * await old.close()
   * @throws ConfigError (a rejection) for what is no app, for one that its check refuses, and for options that cannot work.
   * The running app stays.
   */
  swap(app: App, options?: SwapOptions): Promise<Swapped>
}

/** What transports need of an app. */
export type Served = Pick<App, 'open' | 'trusts'>

const RULES: Table<SwapOptions> = { check: callback, checkTimeout: milliseconds(1), limit: milliseconds(0) }

/** Opens exchanges on the app of the moment, and knows what runs on those before. */
export class Service implements Served, Swappable {
  #term: Term
  #calls = 0
  /** Number of the call whose app runs. */
  #applied = 0

  constructor(app: App) {
    this.#term = new Term(app)
  }

  get trusts(): (address: string) => boolean {
    return this.#term.app.trusts
  }

  open(
    head: RequestHead,
    body: Source | null,
    link: ClientLink,
    fault: ProxyError | null = null,
  ): OpenExchange {
    const term = this.#term
    return new Running(term, term.app.open(head, body, link, fault), link)
  }

  async swap(app: App, options: SwapOptions = {}): Promise<Swapped> {
    const call = ++this.#calls
    const faults: ConfigFault[] = []
    const given = readOptions<SwapOptions>('swap', options, RULES, faults)
    checkApp('swap(app)', app, faults)
    if (faults.length > 0) throw new ConfigError(faults)
    if (given.check) {
      await passes(app, given.check, given.checkTimeout ?? 10_000)
      if (this.#applied > call)
        throw refusal('a later swap has taken effect', 'Swap again if it is still wanted.')
    }
    this.#applied = call
    const old = this.#term
    this.#term = new Term(app)
    return { retired: old.retire(given.limit ?? null) }
  }
}

async function passes(app: App, check: (app: App) => unknown, most: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${most} ms`)), most)
  })
  let verdict: unknown
  try {
    verdict = await Promise.race([check(app), late])
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw refusal(`its check failed: ${why.slice(0, 200)}`, 'Mend the app; the running one stays.')
  } finally {
    clearTimeout(timer)
  }
  if (verdict === false) throw refusal('its check gave false', 'Mend the app; the running one stays.')
}

function refusal(problem: string, fix: string): ConfigError {
  return new ConfigError([{ place: 'swap(app)', problem, fix }])
}

/** The time of one app: its exchanges as a linked list, so that counting them costs next to nothing. */
class Term {
  readonly app: App
  first: Running | null = null
  #retired: (() => void) | null = null
  #limit: NodeJS.Timeout | null = null

  constructor(app: App) {
    this.app = app
  }

  enter(running: Running): void {
    running.after = this.first
    if (this.first) this.first.before = running
    this.first = running
  }

  leave(running: Running): void {
    const { before, after } = running
    if (before) before.after = after
    else this.first = after
    if (after) after.before = before
    if (this.first === null) this.#retired?.()
  }

  /** No exchange is opened any more. */
  retire(limit: number | null): Promise<void> {
    if (this.first === null) return Promise.resolve()
    return new Promise(resolve => {
      if (limit !== null) this.#limit = setTimeout(() => this.#cut(), limit).unref()
      this.#retired = () => {
        if (this.#limit !== null) clearTimeout(this.#limit)
        resolve()
      }
    })
  }

  #cut(): void {
    const error = new ProxyError({ source: 'proxy', phase: 'handler', code: 'draining' })
    for (let one = this.first; one !== null; ) {
      // One that ends at once leaves the list.
      const { after } = one
      one.cut(error)
      one = after
    }
  }
}

/** An exchange, counted until its end. */
class Running implements OpenExchange {
  before: Running | null = null
  after: Running | null = null
  readonly #exchange: OpenExchange
  readonly #link: ClientLink
  #term: Term | null

  constructor(term: Term, exchange: OpenExchange, link: ClientLink) {
    this.#exchange = exchange
    this.#link = link
    this.#term = term
    term.enter(this)
  }

  run(): Awaitable<Reply> {
    return this.#exchange.run()
  }

  abort(error: ProxyError): void {
    this.#exchange.abort(error)
  }

  done(status: number, bytesSent: number, error: ProxyError | null): void {
    this.#exchange.done(status, bytesSent, error)
    const term = this.#term
    this.#term = null
    term?.leave(this)
  }

  get outcome(): Outcome {
    return this.#exchange.outcome
  }

  cut(error: ProxyError): void {
    this.#link.cut?.(error)
    this.#exchange.abort(error)
  }
}
