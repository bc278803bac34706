/** One CA with the account that this installation has there. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Challenges } from './challenges.ts'
import { AcmeClient } from './client.ts'
import { AcmeError } from './error.ts'
import type { AcmeAuthority, AcmeSettings } from './options.ts'
import { type Issued, type OrderPlan, placeOrder } from './order.ts'
import { LONGEST_WAIT, type RenewalWindow, readWindow, windowRecheck } from './schedule.ts'

/** Time for one exchange, in ms. */
const EXCHANGE = 30_000
const MINUTE = 60_000

interface StoredAccount {
  key: string
  url: string | null
}

/** Talks to one CA. The account is made when the first order is placed. */
export class Authority {
  readonly directory: string
  readonly #config: AcmeAuthority
  readonly #settings: AcmeSettings
  readonly #proofs: Challenges
  readonly #signal: AbortSignal
  #restsUntil = 0
  #session: { client: AcmeClient; key: KeyObject } | null = null

  constructor(config: AcmeAuthority, settings: AcmeSettings, proofs: Challenges, signal: AbortSignal) {
    this.directory = config.directory
    this.#config = config
    this.#settings = settings
    this.#proofs = proofs
    this.#signal = signal
  }

  /** True after an answer that is about all orders, not about one: it is down, or we ask too much. */
  get isResting(): boolean {
    const left = this.#restsUntil - this.#settings.clock()
    return left > 0 && left <= LONGEST_WAIT
  }

  /** Orders a certificate. @throws AcmeError. */
  async order(names: readonly string[], replaces: string | null): Promise<Issued> {
    try {
      return await this.#order(names, replaces)
    } catch (error) {
      if (error instanceof AcmeError) this.#restAfter(error)
      throw error
    }
  }

  /** A limit may be of one name only, so others are tried again after a minute; 503 is about the whole CA. */
  #restAfter({ type, status, retryAfter }: AcmeError): void {
    const isGeneral = type === 'connection' || type === 'timeout' || type === 'rateLimited' || status >= 500
    if (!isGeneral && status !== 429) return
    this.#restsUntil = this.#settings.clock() + Math.max(MINUTE, status === 503 ? retryAfter : 0)
  }

  async #order(names: readonly string[], replaces: string | null): Promise<Issued> {
    const { client, key } = await this.#open()
    await this.#register()
    const { challenges, orderTimeout } = this.#settings
    const renewable = (await client.directory()).renewalInfo !== undefined
    const profile = this.#config.profile ?? null
    await this.#assertProfile(profile)
    const plan: OrderPlan = { names, challenges, profile, replaces: renewable ? replaces : null }
    const tools = {
      accountKey: key,
      proofs: this.#proofs,
      signal: this.#signal,
      timeout: orderTimeout,
    }
    try {
      return await placeOrder(client, plan, tools)
    } catch (error) {
      if (!(error instanceof AcmeError) || error.type !== 'accountDoesNotExist') throw error
      // The CA has forgotten the account; the key may make a new one.
      client.forget()
      await this.#register()
      return placeOrder(client, plan, tools)
    }
  }

  /** The window that the CA suggests (RFC 9773, 4), and in how many ms to ask again; `null` window without one. */
  async renewalWindow(id: string): Promise<{ window: RenewalWindow | null; recheck: number }> {
    const { client } = await this.#open()
    const { renewalInfo } = await client.directory()
    if (renewalInfo === undefined) return { window: null, recheck: windowRecheck(0) }
    const { body, retryAfter } = await client.get(`${renewalInfo.replace(/\/$/, '')}/${id}`)
    return { window: readWindow(body), recheck: windowRecheck(retryAfter) }
  }

  async #assertProfile(profile: string | null): Promise<void> {
    if (profile === null) return
    const { meta } = await this.#session!.client.directory()
    if (!Object.hasOwn(meta?.profiles ?? {}, profile)) {
      throw new AcmeError('invalidProfile', `the CA has no profile ${profile}`)
    }
  }

  get #place(): string {
    const id = createHash('sha256').update(`${this.directory} ${this.#config.externalAccount?.keyId ?? ''}`)
    return `accounts/${id.digest('hex').slice(0, 32)}.json`
  }

  async #open(): Promise<{ client: AcmeClient; key: KeyObject }> {
    if (this.#session) return this.#session
    const { storage, clock } = this.#settings
    let stored = readAccount(await storage.read(this.#place))
    if (!stored) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      stored = { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), url: null }
      await storage.write(this.#place, JSON.stringify(stored))
    }
    const key = createPrivateKey(stored.key)
    const { directory, ca } = this.#config
    const reach = { ca, timeout: EXCHANGE, signal: this.#signal, clock }
    this.#session = { key, client: new AcmeClient({ directory, ...reach }, key, stored.url) }
    return this.#session
  }

  async #register(): Promise<void> {
    const { client, key } = this.#session!
    if (client.account !== null) return
    const url = await client.register(this.#settings.email, this.#config.externalAccount ?? null)
    const account: StoredAccount = { key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), url }
    await this.#settings.storage.write(this.#place, JSON.stringify(account))
  }
}

function readAccount(text: string | null): StoredAccount | null {
  try {
    const { key, url } = JSON.parse(text ?? '') as StoredAccount
    createPrivateKey(key)
    return { key, url: typeof url === 'string' ? url : null }
  } catch {
    return null
  }
}
