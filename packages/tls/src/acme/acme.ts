/** Issues and renews certificates by ACME, for a certificate store. */
import type { Filter } from '@postern/core'
import QuickLRU from 'quick-lru'
import type { CertificateIssuer } from '../store/issuer.ts'
import type { CertificateInput } from '../store/material.ts'
import { Authority } from './authority.ts'
import { Challenges } from './challenges.ts'
import { AcmeError, printable } from './error.ts'
import { ManagedCertificate, readOnDemand } from './managed.ts'
import { type AcmeOptions, type AcmeSettings, readAcmeOptions } from './options.ts'
import { retryDelay } from './schedule.ts'

/** What {@link acme} gives: an issuer for `certificates({ acme })`. */
export interface Acme extends CertificateIssuer {
  /** Gate that answers validations by HTTP-01. It belongs on port 80, before anything that redirects. */
  http01(): Filter
  /** Looks now for what is due, instead of within a minute. Resolves when all attempts are over. */
  check(): Promise<void>
}

const MINUTE = 60_000
/** Between two looks at storage and schedule. */
const LOOK = MINUTE
/** How long an answer of "no" counts, and how many are remembered. */
const DENIED = MINUTE
const MOST_DENIED = 10_000
/** On-demand names that are in work at once. */
const MOST_PENDING = 8
/** Time for `allow()`, in ms; as long as a handshake has by default. */
const ALLOW = 10_000
/** A DNS name that a CA could sign: two labels at least, and no address. */
const NAME =
  /^(?=.{4,253}$)(?!.*\.\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/

/**
 * Gets certificates by ACME (RFC 8555) and renews them at the time that the CA suggests (RFC 9773), or when a third of
 * their life is left. Attempts that fail are repeated after 5 minutes, then after twice as long each time up to a day, also
 * across restarts. Of several machines that share a storage, one orders and all serve. Whatever goes wrong, a certificate
 * that is there is served until a better one is.
 * @example
 * const issuer = acme({ names: ['example.com'], acceptTerms: true, storage: './acme' })
 * const tls = await certificates({ acme: issuer })
 * const front = await listen(tls, app, { port: 443 })
 * @throws ConfigError for options that cannot work.
 */
export function acme(options: AcmeOptions): Acme {
  return new AcmeIssuer(readAcmeOptions(options))
}

class AcmeIssuer implements Acme {
  readonly #settings: AcmeSettings
  readonly #proofs: Challenges
  readonly #authorities: readonly Authority[]
  readonly #stop = new AbortController()
  readonly #managed = new Map<string, ManagedCertificate>()
  readonly #denied = new QuickLRU<string, number>({ maxSize: MOST_DENIED })
  readonly #pending = new Map<string, Promise<void>>()
  /** Times of on-demand orders of the last hour. */
  #orders: number[] = []
  #changed: (() => Promise<unknown>) | null = null
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> = Promise.resolve()

  constructor(settings: AcmeSettings) {
    this.#settings = settings
    this.#proofs = new Challenges(settings.storage, settings.dns)
    this.#authorities = settings.authorities.map(
      authority => new Authority(authority, settings, this.#proofs, this.#stop.signal),
    )
    for (const names of settings.sets) this.#add(new ManagedCertificate(names, false))
  }

  async load(): Promise<readonly CertificateInput[]> {
    const { storage, onDemand, clock } = this.#settings
    if (onDemand) {
      for (const key of (await storage.list('certificates/')).slice(0, onDemand.most)) {
        const found = readOnDemand(await storage.read(key))
        if (found && !this.#managed.has(found.id)) this.#add(found)
      }
    }
    const inputs: CertificateInput[] = []
    for (const managed of this.#managed.values()) {
      await managed.refresh(storage, clock())
      const { stored } = managed
      if (stored) inputs.push({ cert: stored.cert, key: stored.key, label: `acme ${managed.names[0]}` })
    }
    return inputs
  }

  start(changed: () => Promise<unknown>): void {
    this.#changed = changed
    void this.check()
  }

  challenge(name: string): CertificateInput | null {
    return this.#proofs.certificateFor(name)
  }

  http01(): Filter {
    return this.#proofs.gate()
  }

  missing(name: string): Promise<void> | null {
    const { onDemand, clock } = this.#settings
    if (!onDemand || !NAME.test(name) || this.#stop.signal.aborted) return null
    const running = this.#pending.get(name)
    if (running) return running
    const denied = (this.#denied.get(name) ?? 0) - clock()
    if ((denied > 0 && denied <= DENIED) || this.#pending.size >= MOST_PENDING) return null
    const made = this.#issueOnDemand(name).finally(() => this.#pending.delete(name))
    this.#pending.set(name, made)
    return made
  }

  /** One look after the other: orders are placed one at a time. */
  check(): Promise<void> {
    this.#work = this.#work.then(() => this.#look()).catch(() => {})
    return this.#work
  }

  close(): void {
    this.#stop.abort()
    if (this.#timer) clearTimeout(this.#timer)
  }

  #add(managed: ManagedCertificate): void {
    this.#managed.set(managed.id, managed)
  }

  async #look(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    for (const managed of this.#managed.values()) {
      if (this.#stop.signal.aborted) return
      try {
        await this.#tend(managed)
      } catch (error) {
        this.#tell('error', 'acme', `${managed.names[0]}: ${reasonOf(error)}`)
      }
    }
    if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => void this.check(), LOOK).unref()
  }

  async #tend(managed: ManagedCertificate): Promise<void> {
    const { storage, clock } = this.#settings
    // Another machine may have been quicker.
    if (await managed.refresh(storage, clock())) await this.#changed?.()
    await this.#askWindow(managed)
    if (managed.dueAt > clock()) return
    if (managed.onDemand && !(await this.#mayRenew(managed))) return
    await this.#obtain(managed)
  }

  async #mayRenew(managed: ManagedCertificate): Promise<boolean> {
    const { clock, storage } = this.#settings
    if (await this.#allows(managed.names[0]!)) return true
    if (managed.validTo < clock()) {
      this.#managed.delete(managed.id)
      // Else it would count for ever against the most that may be there.
      await managed.forget(storage)
    }
    return false
  }

  /** Asks the operator's function, for a bounded time: a database that hangs must not hold all places of `MOST_PENDING`. */
  async #allows(name: string): Promise<boolean> {
    const { onDemand } = this.#settings
    if (!onDemand) return false
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`allow() gave no answer in ${ALLOW} ms`)), ALLOW).unref()
    })
    try {
      return (await Promise.race([onDemand.allow(name), late])) === true
    } finally {
      clearTimeout(timer)
    }
  }

  async #askWindow(managed: ManagedCertificate): Promise<void> {
    const { clock } = this.#settings
    if (managed.renewalId === null || managed.windowAt > clock()) return
    const authority = this.#authorities.find(one => one.directory === managed.stored?.directory)
    if (!authority) return
    // Set first, so that a CA that is down is not asked each minute.
    managed.windowAt = clock() + 60 * MINUTE
    try {
      const { window, recheck } = await authority.renewalWindow(managed.renewalId)
      managed.window = window
      managed.windowAt = clock() + recheck
    } catch (error) {
      this.#tell('info', 'acme', `no renewal information for ${managed.names[0]}: ${reasonOf(error)}`)
    }
  }

  /** Takes the lock, looks once more, and asks the authorities one after the other. */
  async #obtain(managed: ManagedCertificate): Promise<void> {
    const { storage, clock, random, orderTimeout } = this.#settings
    const lasts = (orderTimeout + MINUTE) * this.#authorities.length
    const release = await storage.lock(`locks/${managed.id}`, lasts)
    if (release === null) return
    try {
      if (await managed.refresh(storage, clock())) await this.#changed?.()
      if (managed.dueAt > clock()) return
      // Nothing is asked, so nothing has failed: the next look tries.
      const awake = this.#authorities.filter(authority => !authority.isResting)
      if (awake.length === 0) return
      const failure = await this.#askAll(managed, awake)
      if (failure === null) {
        await this.#changed?.()
        return
      }
      if (this.#stop.signal.aborted) return
      const wait = retryDelay(managed.failures + 1, failure.retryAfter, random)
      await managed.keepFailure(storage, clock() + wait)
      const next = new Date(managed.notBefore).toISOString()
      this.#tell(
        managed.validTo > clock() ? 'warn' : 'error',
        'acme-failed',
        `no certificate for ${managed.names.join(', ')}: ${failure.message}; next attempt at ${next}`,
        managed.names[0],
      )
    } finally {
      await release()
    }
  }

  /** `null` when one of them issued; else the last failure. */
  async #askAll(managed: ManagedCertificate, authorities: readonly Authority[]): Promise<AcmeError | null> {
    let failure: AcmeError | null = null
    for (const authority of authorities) {
      const { directory } = authority
      const replaces = managed.stored?.directory === directory ? managed.renewalId : null
      try {
        const { cert, key } = await authority.order(managed.names, replaces)
        const { names, onDemand } = managed
        const { storage, clock } = this.#settings
        await managed.keep(storage, { names, cert, key, directory, onDemand }, clock())
        this.#tell(
          'info',
          'acme-issued',
          `${names.join(', ')}: a certificate until ${new Date(managed.validTo).toISOString()}`,
          names[0],
        )
        return null
      } catch (error) {
        const told = error instanceof AcmeError ? error : new AcmeError('internal', reasonOf(error))
        // The longest wait that anybody asked for counts for all.
        failure = new AcmeError(
          told.type,
          told.message.slice(told.type.length + 2),
          told.status,
          Math.max(told.retryAfter, failure?.retryAfter ?? 0),
        )
        if (this.#stop.signal.aborted) return failure
      }
    }
    return failure
  }

  async #issueOnDemand(name: string): Promise<void> {
    const { onDemand, clock, storage } = this.#settings
    const deny = (): void => void this.#denied.set(name, clock() + DENIED)
    try {
      if (!onDemand || !(await this.#allows(name))) return deny()
      const managed = new ManagedCertificate([name], true)
      const known = this.#managed.get(managed.id) ?? managed
      await known.refresh(storage, clock())
      if (known.dueAt > clock()) {
        if (known.stored && !this.#managed.has(known.id)) {
          this.#add(known)
          await this.#changed?.()
        } else deny()
        return
      }
      if (this.#countOnDemand() >= onDemand.most || !this.#takeOrder(onDemand.perHour)) return deny()
      await this.#obtain(known)
      if (known.stored) {
        this.#add(known)
        await this.#changed?.()
      } else deny()
    } catch (error) {
      deny()
      this.#tell('error', 'acme', `on demand: ${reasonOf(error)}`)
    }
  }

  #countOnDemand(): number {
    let count = 0
    for (const managed of this.#managed.values()) if (managed.onDemand) count++
    return count
  }

  #takeOrder(perHour: number): boolean {
    const now = this.#settings.clock()
    // Those of the future were counted before the clock was set back.
    this.#orders = this.#orders.filter(time => time <= now && now - time < 60 * MINUTE)
    if (this.#orders.length >= perHour) return false
    this.#orders.push(now)
    return true
  }

  #tell(
    level: 'info' | 'warn' | 'error',
    kind: 'acme' | 'acme-issued' | 'acme-failed',
    message: string,
    source?: string,
  ): void {
    this.#settings.log({
      level,
      kind,
      message: printable(message),
      ...(source === undefined ? {} : { source }),
    })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
