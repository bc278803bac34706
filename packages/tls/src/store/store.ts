/** The certificate store: loads, validates, swaps at once, and lends contexts to servers. */
import type { Server as TcpServer } from 'node:net'
import { dirname } from 'node:path'
import type { SecureContext, Server, TlsOptions } from 'node:tls'
import { type Awaitable, ConfigError, type ConfigFault } from '@postern/core'
import { ClientPolicies, type ClientPolicyTable } from '../identity/policy.ts'
import { ClientJudge } from '../identity/verify.ts'
import { protocolOptions, withoutTickets } from '../policy/protocol.ts'
import { letChoose } from '../server/chooser.ts'
import { type HandshakeHooks, makeServerOptions, type ServerOptionsOptions } from '../server/options.ts'
import { type TlsCounts, watchHandshakes } from '../server/protect.ts'
import { isLooked } from '../server/raw.ts'
import { TicketRotation } from '../tickets/rotation.ts'
import { Contexts, contextOptions } from './contexts.ts'
import { ExpiryReport } from './expiry.ts'
import { isValid, NameIndex } from './index-of-names.ts'
import type { Certificate, Material } from './material.ts'
import { type CertificatesOptions, readOptions, type StoreSettings } from './options.ts'
import { readSources, sourcesState } from './sources.ts'
import { Stapler } from './stapler.ts'
import { type Watching, watchSources } from './watch.ts'

const HOUR = 3_600_000

/** Certificates for servers of this process. */
export interface CertificateStore {
  /** Options for `https.createServer`, `http2.createSecureServer` and `tls.createServer`. Give the server to `protect` too. */
  serverOptions(options?: ServerOptionsOptions): TlsOptions
  /**
   * Makes a server follow this store: certificates and ticket keys as they change, slow handshakes closed, client
   * certificates judged. Call it once the server's own listeners are there: right after it was created or `attach`ed.
   */
  protect(server: TcpServer): void
  /** All certificates of the current set. */
  readonly certificates: readonly Certificate[]
  /** The certificate that a client asking for this name gets; `null` when it would get the default one, or none. */
  find(name: string): Certificate | null
  /** Reads all sources again. True: swapped. False: something was wrong, it was reported, and the last good set stays. */
  reload(): Promise<boolean>
  /** True while at least one certificate is valid: for `health({ isReady: () => store.isReady() })`. */
  isReady(): boolean
  /** What is wrong now, a sentence each: the last reload, certificates that have ended or end soon. */
  problems(): readonly string[]
  /** Counts of handshakes of the protected servers. */
  readonly counts: Readonly<TlsCounts>
  /** Stops timers and watches. Servers go on with what they have. */
  close(): void
}

/**
 * Opens a store.
 * @example
 * const tls = await certificates({ dir: './certs' })
 * const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true })
 * attach(server, app)
 * tls.protect(server)
 * @throws ConfigError for options that cannot work, and for sources that cannot be read at the start.
 */
export async function certificates(options: CertificatesOptions): Promise<CertificateStore> {
  const store = new Store(readOptions(options))
  await store.open()
  return store
}

/** The store, with what `listen()` and ACME need beside the public part. */
export class Store implements CertificateStore {
  readonly settings: StoreSettings
  readonly counts: TlsCounts = {
    ...{ handshakes: 0, resumed: 0, identified: 0 },
    ...{ refused: 0, failed: 0, timedOut: 0 },
  }
  /** Servers that follow new certificates and keys, until they close. */
  readonly #servers = new Set<Server>()
  /** All that were given to `protect()`: also one that is closing shakes hands. */
  readonly #protected = new WeakSet<object>()
  readonly #contexts: Contexts
  readonly #stapler: Stapler
  readonly #expiry: ExpiryReport
  readonly #judge = new ClientJudge()
  readonly #tickets: TicketRotation | null
  readonly #stapling = new WeakSet<object>()
  #index: NameIndex
  #policies: ClientPolicies
  #reloadFault: string | null = null
  #reloading: Promise<boolean> | null = null
  #watching: Watching | null = null
  #hourly: NodeJS.Timeout | null = null

  constructor(settings: StoreSettings) {
    const { log, clock } = settings
    this.settings = settings
    this.#contexts = new Contexts(protocolOptions(settings.minVersion), settings.maxContexts)
    this.#stapler = new Stapler(settings.ocsp, log, clock)
    this.#expiry = new ExpiryReport(settings.warnMs, log)
    this.#index = new NameIndex([], null, 0)
    this.#policies = settings.policies ?? new ClientPolicies({}, '', [])
    this.#tickets = settings.tickets
      ? new TicketRotation(settings.tickets, settings.overlap, this.#servers, log, clock)
      : null
  }

  async open(): Promise<void> {
    const { settings } = this
    const watched = settings.watch > 0 && settings.dirs.length + settings.files.length > 0
    // Before the files are read: what changes in between is seen at the first look.
    const state = watched ? await sourcesState(settings).catch(() => '') : ''
    try {
      await this.#tickets?.turn()
      await this.#load(true)
    } catch (error) {
      this.close()
      const fix = 'Mend it, or set allowEmpty: true to start without.'
      throw new ConfigError([{ place: 'certificates', problem: (error as Error).message, fix }])
    }
    if (watched) {
      const folders = [
        ...settings.dirs,
        ...settings.files.flatMap(pair => [pair.cert, pair.key].map(path => dirname(path))),
      ]
      const look = (): Promise<string> => sourcesState(settings)
      this.#watching = watchSources([...new Set(folders)], settings.watch, state, look, () => this.reload())
    }
    this.#hourly = setInterval(() => this.#lookAtDates(), HOUR).unref()
    settings.issuer?.start(() => this.reload())
  }

  serverOptions(options: ServerOptionsOptions = {}): TlsOptions {
    const { settings } = this
    const base = makeServerOptions(settings, this.#hooks, options)
    // With client certificates only a protected server may serve: without protect() it has no certificate at all.
    const context = this.#hooks.asks() ? {} : this.#defaultContext()
    const { sessionIdContext } = this.#policies
    return {
      ...base,
      sessionIdContext,
      ...context,
      ...(this.#tickets ? { ticketKeys: this.#tickets.current } : {}),
    }
  }

  protect(server: TcpServer): void {
    const secure = server as Server
    if (typeof secure.setSecureContext !== 'function') {
      const fix = 'Pass a server of https, http2.createSecureServer or tls.'
      throw new ConfigError([{ place: 'protect(server)', problem: 'it does not speak TLS', fix }])
    }
    if (this.#protected.has(secure)) return
    this.#protected.add(secure)
    const { clock } = this.settings
    watchHandshakes(secure, {
      policyOf: name => this.#policies.find(name),
      clock,
      judge: this.#judge,
      counts: this.counts,
      serves: this.#serves,
    })
    this.#servers.add(secure)
    secure.once('close', () => this.#servers.delete(secure))
    this.#equip(secure)
  }

  get certificates(): readonly Certificate[] {
    return this.#index.all.map(publicPart)
  }

  find(name: string): Certificate | null {
    const found = this.#index.find(name.toLowerCase())
    return found && publicPart(found)
  }

  reload(): Promise<boolean> {
    // One at a time; whoever asks meanwhile gets a reload that starts after the running one.
    const before = this.#reloading ?? Promise.resolve(true)
    const next = before.then(() => this.#reloadNow())
    this.#reloading = next
    return next
  }

  isReady(): boolean {
    const now = this.settings.clock()
    return this.#index.all.some(material => isValid(material, now))
  }

  problems(): readonly string[] {
    const now = this.settings.clock()
    const problems = this.#reloadFault === null ? [] : [this.#reloadFault]
    for (const material of this.#index.all) {
      if (this.#isCovered(material)) continue
      if (now > material.validTo) problems.push(`the certificate of ${material.source} has ended`)
      else if (material.validTo - now <= this.settings.warnMs) {
        problems.push(`the certificate of ${material.source} ends soon`)
      } else if (now < material.validFrom)
        problems.push(`the certificate of ${material.source} is not valid yet`)
    }
    if (this.#index.all.length === 0) problems.push('there is no certificate')
    return problems
  }

  close(): void {
    this.#watching?.close()
    this.#tickets?.close()
    this.#stapler.close()
    this.settings.issuer?.close()
    if (this.#hourly) clearInterval(this.#hourly)
  }

  /** True for a name that has a certificate of its own. */
  has(name: string): boolean {
    return this.#index.find(name) !== null
  }

  async #reloadNow(): Promise<boolean> {
    const { log } = this.settings
    try {
      await this.#load(false)
      this.#reloadFault = null
      const message = `${this.#index.all.length} certificates are loaded`
      log({ level: 'info', kind: 'reloaded', message })
      return true
    } catch (error) {
      this.#reloadFault = `certificates were not reloaded: ${(error as Error).message}`
      log({ level: 'error', kind: 'reload-failed', message: this.#reloadFault })
      return false
    }
  }

  async #load(first: boolean): Promise<void> {
    const { settings } = this
    const { materials, skipped } = await readSources(settings)
    const kept: Material[] = []
    for (const { source, reason } of skipped) {
      // A file that was good is being replaced: its last good state stays until the new one is whole.
      const before = first ? undefined : this.#index.all.find(material => material.source === source)
      if (before) kept.push(before)
      settings.log({ level: 'warn', kind: 'skipped', message: `${source} is not used: ${reason}`, source })
    }
    const all = [...materials, ...kept]
    if (all.length === 0 && !(settings.allowEmpty && this.#index.all.length === 0)) {
      const reasons = skipped.slice(0, 5).map(({ source, reason }) => `; ${source}: ${reason}`)
      throw new Error(`no certificate was found${reasons.join('')}`)
    }
    const index = new NameIndex(all, settings.fallback, settings.clock())
    if (settings.fallback !== null && index.fallback === null && !settings.allowEmpty) {
      throw new Error(`no certificate is for the default name ${settings.fallback}`)
    }
    const policies = settings.clients ? await readPolicies(settings.clients) : this.#policies
    // Made now, so that a certificate that OpenSSL does not take never becomes the default.
    if (index.fallback) this.#contexts.get(index.fallback, policies.find(''))
    this.#index = index
    this.#policies = policies
    this.#stapler.use(all)
    for (const server of this.#servers) this.#equip(server)
    this.#expiry.look(all, settings.clock(), material => this.#isCovered(material))
  }

  #lookAtDates(): void {
    const now = this.settings.clock()
    const { all } = this.#index
    const before = this.#index.fallback
    // A certificate that has ended makes place for one that has not.
    this.#index = new NameIndex(all, this.settings.fallback, now)
    if (this.#index.fallback !== before) for (const server of this.#servers) this.#equip(server)
    this.#expiry.look(all, now, material => this.#isCovered(material))
  }

  #isCovered(material: Material): boolean {
    return material.names.length > 0 && material.names.every(name => this.#owner(name) !== material)
  }

  #owner(name: string): Material | null {
    return this.#index.find(name.startsWith('*.') ? `*${name.slice(1)}` : name)
  }

  #equip(server: Server): void {
    const { minVersion } = this.settings
    // A resumed connection of TLS 1.2 tells its name in the ClientHello only.
    const hidesNames = minVersion === 'TLSv1.2' && !isLooked(server)
    server.setSecureContext({
      ...this.#defaultContext(),
      ...(hidesNames && this.#policies.dependsOnName ? withoutTickets(minVersion) : {}),
      sessionIdContext: this.#policies.sessionIdContext,
      sessionTimeout: this.settings.sessionTimeout,
      // Without them, new ones at random: every ticket would die, and workers would no longer agree.
      ticketKeys: this.#tickets?.current ?? server.getTicketKeys(),
    } as Parameters<Server['setSecureContext']>[0])
    this.#tickets?.give(server)
    letChoose(server, this.#hasChoice())
    if (this.#stapler.active && !this.#stapling.has(server)) {
      this.#stapling.add(server)
      server.on('OCSPRequest', (certificate, _issuer, respond) =>
        respond(null, this.#stapler.find(certificate) as Buffer),
      )
    }
  }

  /** True when a handshake has to ask by name: another certificate, a policy, a refusal, a validation. */
  #hasChoice(): boolean {
    const { issuer, refuseUnknown } = this.settings
    const plain = issuer === null && !refuseUnknown && !this.#hooks.asks() && !this.#stapler.active
    return !plain || !this.#index.isUniform
  }

  #defaultContext(): object {
    const { minVersion } = this.settings
    const policies = this.#policies
    const protocol = protocolOptions(minVersion)
    const { fallback } = this.#index
    return fallback ? contextOptions(protocol, fallback, policies.find('')) : protocol
  }

  readonly #hooks: HandshakeHooks = {
    asks: () => this.settings.clients !== null || this.#policies.size > 0,
    asksName: name => this.#policies.find(name) !== null,
    isProtected: server => this.#protected.has(server as object),
    context: name => this.#contextFor(name),
    isDefault: name => {
      const policies = this.#policies
      const material = this.#index.find(name)
      return (
        (material === null || material === this.#index.fallback) && policies.find(name) === policies.find('')
      )
    },
    has: name => this.#index.find(name) !== null,
  }

  #contextFor(name: string): SecureContext | null {
    const material = this.#index.find(name) ?? (this.settings.refuseUnknown ? null : this.#index.fallback)
    if (!material) return null
    try {
      return this.#contexts.get(material, this.#policies.find(name))
    } catch (error) {
      const message = `OpenSSL does not take the certificate of ${material.source}: ${(error as Error).message}`
      this.settings.log({ level: 'error', kind: 'context', message, source: material.source })
      return null
    }
  }

  /** The rule for HTTP/2 connection reuse (RFC 9113, 9.1.1), for HTTP/1.1 too. */
  readonly #serves = (serverName: string, host: string): boolean => {
    const policies = this.#policies
    if (policies.find(serverName)?.id !== policies.find(host)?.id) return false
    if (serverName === '') return true
    const own = this.#index.find(host)
    const shown = this.#index.find(serverName) ?? this.#index.fallback
    // A host that has no certificate here is for the router to know, not for TLS.
    return own === null || own === shown
  }
}

/** Asks the function for policies. @throws ConfigError with every fault of what it gives. */
async function readPolicies(clients: () => Awaitable<ClientPolicyTable>): Promise<ClientPolicies> {
  const faults: ConfigFault[] = []
  const policies = new ClientPolicies(await clients(), 'certificates.clients()', faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return policies
}

function publicPart({ leaf, certPem, keyPem, ocsp, id, ...certificate }: Material): Certificate {
  return certificate
}
