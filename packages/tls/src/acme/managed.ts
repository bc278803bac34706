/** One certificate under management: what is stored of it, and when it is due. */
import { createHash, X509Certificate } from 'node:crypto'
import { makeMaterial, readChain, readKey } from '../store/material.ts'
import { LONGEST_WAIT, type RenewalWindow, renewalId, renewalTime, restAfter, shareOf } from './schedule.ts'
import type { AcmeStorage } from './storage.ts'

/** What the store keeps of a certificate. */
export interface StoredCertificate {
  readonly names: readonly string[]
  readonly cert: string
  readonly key: string
  /** Directory of the CA that issued it. */
  readonly directory: string
  readonly onDemand: boolean
}

/** What the store keeps of attempts, so that a restart does not begin at once again. */
interface StoredState {
  failures: number
  notBefore: number
  early: number
}

/** A certificate, or the wish for one. */
export class ManagedCertificate {
  readonly names: readonly string[]
  readonly onDemand: boolean
  readonly id: string
  stored: StoredCertificate | null = null
  /** Identifier for renewal information; `null` when the issuer gave none. */
  renewalId: string | null = null
  window: RenewalWindow | null = null
  /** When to ask the CA for its window again. */
  windowAt = 0
  failures = 0
  notBefore = 0
  /** Renewals in a row that a CA wanted before their time. */
  early = 0
  #validity: { validFrom: number; validTo: number } | null = null
  #text: string | null = null

  constructor(names: readonly string[], onDemand: boolean) {
    this.names = names
    this.onDemand = onDemand
    const digest = createHash('sha256')
      .update([...names].sort().join())
      .digest('hex')
      .slice(0, 12)
    this.id = `${(names[0] ?? '').replace('*', '_').slice(0, 100)}-${digest}`
  }

  get place(): string {
    return `certificates/${this.id}.json`
  }

  get #statePlace(): string {
    return `attempts/${this.id}.json`
  }

  /** Milliseconds since 1970; 0 without a certificate. */
  get validTo(): number {
    return this.#validity?.validTo ?? 0
  }

  /** When it should be renewed. */
  get renewAt(): number {
    return this.#renewAt(this.window)
  }

  #renewAt(window: RenewalWindow | null): number {
    if (!this.#validity || !this.stored) return 0
    return renewalTime(this.#validity, window, shareOf(this.stored.cert))
  }

  /** When the next attempt is due. */
  get dueAt(): number {
    // The rest after an issue is no reason to stay without a certificate, should it get lost.
    if (this.stored === null && this.failures === 0) return 0
    return Math.max(this.renewAt, this.notBefore)
  }

  /** Reads what is stored; true when there is another certificate than before. What is broken counts as absent. */
  async refresh(storage: AcmeStorage, now: number): Promise<boolean> {
    const state = parse<StoredState>(await storage.read(this.#statePlace))
    this.failures = Number.isSafeInteger(state?.failures) ? state!.failures : 0
    this.early = Number.isSafeInteger(state?.early) ? state!.early : 0
    const { notBefore } = state ?? {}
    // A time that no wait reaches was written while the clock was wrong.
    this.notBefore = Number.isFinite(notBefore) && notBefore! - now <= LONGEST_WAIT ? notBefore! : 0
    if (this.windowAt - now > LONGEST_WAIT) this.windowAt = 0
    const text = await storage.read(this.place)
    if (text === this.#text) return false
    const stored = parse<StoredCertificate>(text)
    if (!stored || !this.#adopt(stored)) return false
    this.#text = text
    return true
  }

  /** Keeps a new certificate and forgets failures. A CA that wants it replaced again at once has to wait: see `restAfter`. */
  async keep(storage: AcmeStorage, stored: StoredCertificate, now: number): Promise<void> {
    const text = JSON.stringify(stored)
    const isEarly = this.stored !== null && now < this.#renewAt(null)
    await storage.write(this.place, text)
    this.#adopt(stored)
    this.#text = text
    this.failures = 0
    this.early = isEarly ? this.early + 1 : 0
    const { validFrom, validTo } = this.#validity ?? { validFrom: now, validTo: now }
    this.notBefore = now + restAfter(this.early, validTo - validFrom)
    await this.#keepState(storage)
  }

  /** Takes it out of the storage: it has ended, and nobody wants another. */
  async forget(storage: AcmeStorage): Promise<void> {
    await storage.remove(this.place)
    await storage.remove(this.#statePlace)
  }

  /** Keeps a failure and the time before which there is no other attempt. */
  async keepFailure(storage: AcmeStorage, notBefore: number): Promise<void> {
    this.failures++
    this.notBefore = notBefore
    await this.#keepState(storage)
  }

  async #keepState(storage: AcmeStorage): Promise<void> {
    const { failures, notBefore, early } = this
    await storage.write(this.#statePlace, JSON.stringify({ failures, notBefore, early }))
  }

  #adopt(stored: StoredCertificate): boolean {
    try {
      const { validFrom, validTo } = makeMaterial(readChain(stored.cert), readKey(stored.key), this.id)
      this.renewalId = renewalId(new X509Certificate(stored.cert).toString())
      this.#validity = { validFrom, validTo }
      this.stored = stored
      this.window = null
      this.windowAt = 0
      return true
    } catch {
      return false
    }
  }
}

/** Reads a stored certificate that was made on demand; `null` for others. */
export function readOnDemand(text: string | null): ManagedCertificate | null {
  const stored = parse<StoredCertificate>(text)
  if (!stored?.onDemand || !Array.isArray(stored.names) || stored.names.length !== 1) return null
  return new ManagedCertificate([String(stored.names[0])], true)
}

function parse<T>(text: string | null): T | null {
  try {
    return text === null ? null : (JSON.parse(text) as T)
  } catch {
    return null
  }
}
