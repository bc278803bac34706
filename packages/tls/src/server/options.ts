/** Options of a TLS server: which certificate for which name, which protocol, whom to ask for a certificate. */
import { createSecureContext, type SecureContext, type TLSSocket, type TlsOptions } from 'node:tls'
import type { StoreSettings } from '../store/options.ts'
import { markChooser } from './chooser.ts'
import { plainName } from './raw.ts'

/** Options of `serverOptions()`. */
export interface ServerOptionsOptions {
  /**
   * Application protocols in order of preference; default `['h2', 'http/1.1']`, which is what `http2.createSecureServer` with
   * `allowHTTP1` speaks. For `https.createServer`: `['http/1.1']`.
   */
  protocols?: readonly string[]
}

/** What a handshake asks of the store. */
export interface HandshakeHooks {
  /** True for a server that was given to `protect()`. */
  isProtected(server: unknown): boolean
  context(name: string): SecureContext | null
  /** True when the server's own context is the right one. */
  isDefault(name: string): boolean
  has(name: string): boolean
  /** True when there are, or may be, client policies. */
  asks(): boolean
  /** True for a name whose clients are asked for a certificate. */
  asksName(name: string): boolean
}

const ACME = 'acme-tls/1'
const VALIDATION = Symbol('validation')

type Handshaking = TLSSocket & {
  [VALIDATION]?: SecureContext
  /** The server that took the connection. */
  server?: unknown
  /** Private: asks this one client for no certificate. Where it is missing, clients are asked needlessly. */
  _handle?: { setVerifyMode?(request: boolean, reject: boolean): void }
  /** Public since Node 20.17. */
  setKeyCert?(context: SecureContext): void
}

/** Makes the options that do not depend on the current certificates. */
export function makeServerOptions(
  settings: StoreSettings,
  hooks: HandshakeHooks,
  { protocols = ['h2', 'http/1.1'] }: ServerOptionsOptions,
): TlsOptions {
  const { issuer } = settings
  const asks = hooks.asks()

  function chooseContext(
    this: Handshaking,
    servername: string,
    done: (error: Error | null, context?: SecureContext) => void,
  ): void {
    const name = plainName(servername)
    if (this[VALIDATION]) return done(null, this[VALIDATION])
    if (asks && !hooks.isProtected(this.server))
      return done(new Error('the server was not given to protect()'))
    const waiting = hooks.has(name) ? null : (issuer?.missing(name) ?? null)
    if (waiting) {
      const settle = (): void => answer(this, name, true, done)
      waiting.then(settle, settle)
    } else answer(this, name, false, done)
  }

  function answer(
    socket: Handshaking,
    name: string,
    waited: boolean,
    done: (error: Error | null, context?: SecureContext) => void,
  ): void {
    // Browsers would ask their users which certificate to show.
    if (asks && !hooks.asksName(name)) socket._handle?.setVerifyMode?.(false, false)
    // Who has waited still has the server's context of before.
    if (!waited && !settings.refuseUnknown && hooks.isDefault(name)) return done(null)
    const context = hooks.context(name)
    if (context) done(null, context)
    else done(new Error('no certificate for this server name'))
  }

  /** Runs before the choice of the certificate in TLS 1.3. */
  function chooseProtocol(
    this: Handshaking,
    { servername, protocols: offered }: { servername: string; protocols: string[] },
  ): string | undefined {
    if (offered.length === 1 && offered[0] === ACME) {
      const made = issuer?.challenge(plainName(servername)) ?? null
      if (made === null) return undefined
      const context = createSecureContext({ cert: Buffer.from(made.cert), key: Buffer.from(made.key) })
      this[VALIDATION] = context
      this.setKeyCert?.(context)
      return ACME
    }
    return protocols.find(protocol => offered.includes(protocol))
  }

  return {
    SNICallback: markChooser(chooseContext),
    ...(issuer ? { ALPNCallback: chooseProtocol } : { ALPNProtocols: [...protocols] }),
    requestCert: asks,
    // OpenSSL refuses only where one policy holds for all; else protect() judges by name.
    rejectUnauthorized: settings.policies?.uniform != null,
    sessionTimeout: settings.sessionTimeout,
    handshakeTimeout: settings.handshakeTimeout,
    noDelay: true,
  } as TlsOptions
}
