/** Tells the upstream who the client is, and lets nobody else tell it. */
import {
  ConfigError,
  type ConfigFault,
  type Context,
  type Filter,
  type ForwardHead,
  isFieldName,
  type Reply,
  refuse,
} from '@postern/core'
import { assertKnown, shown } from '../config.ts'
import { tlsOf } from '../server/facts.ts'
import type { ClientCertificate } from './client.ts'
import { clientCertChainField, clientCertField, forwardedClientCert } from './headers.ts'
import { type ClientAllowList, readAllowList } from './policy.ts'
import { identityNames } from './spoofed.ts'

/** Options of {@link clientIdentity}. */
export interface ClientIdentityOptions<Field extends string = 'client'> {
  /** Field for the SHA-256 of the certificate, 64 hex digits; default `X-Client-Cert-SHA256`. `false`: none. */
  header?: string | false
  /** Write `Client-Cert` and `Client-Cert-Chain` (RFC 9440) too: whole certificates; default false. */
  clientCert?: boolean
  /** Write Envoy's `X-Forwarded-Client-Cert` too; default false. */
  xfcc?: boolean
  /** Refuse requests without a verified client: 403, reason `client-certificate-required`; default false. */
  require?: boolean
  /** Who may come in here; others get 403, reason `client-not-allowed`, and nobody at all the same as with `require`. */
  allow?: ClientAllowList
  /** State field that holds the client; default `client`. */
  as?: Field
}

/** State of the filter: the verified client, `null` for nobody. */
export type ClientIdentityState<Field extends string> = { [K in Field]: ClientCertificate | null }

const OPTIONS = ['header', 'clientCert', 'xfcc', 'require', 'allow', 'as']
const FRAMING =
  /^(?:host|content-length|transfer-encoding|connection|upgrade|expect|keep-alive|te|trailer|cookie|:.*)$/i

/**
 * Puts the client that the TLS handshake has verified into the state and into fields for the upstream. First it removes
 * every field of the request that claims to tell a client's identity (`Client-Cert`, `X-Forwarded-Client-Cert`,
 * `X-SSL-Client-*`, `SSL_CLIENT_VERIFY` and their like, in all spellings that an application server folds together),
 * also on connections without TLS: so it belongs on every pipeline whose upstream believes such fields.
 *
 * The certificate is asked for by the store's `clients` option; this filter only reads what was found.
 * @example pipeline().use(clientIdentity({ require: true, allow: { names: ['dns:billing.internal'] } }))
 * @throws ConfigError with every fault of the options.
 */
export function clientIdentity<const Field extends string = 'client'>(
  options: ClientIdentityOptions<Field> = {},
): Filter<object, ClientIdentityState<Field>> {
  const faults: ConfigFault[] = []
  assertKnown('clientIdentity', options, OPTIONS, faults)
  const { header = 'X-Client-Cert-SHA256', clientCert = false, xfcc = false } = options
  const field = options.as ?? ('client' as Field)
  if (header !== false && (!isFieldName(header) || FRAMING.test(header))) {
    const fix = 'Write a name like X-Client-Cert-SHA256, or false.'
    faults.push({ place: 'clientIdentity.header', problem: `${shown(header)} cannot be used`, fix })
  }
  const allows = readAllowList(options.allow, 'clientIdentity.allow', faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const required = options.require === true || options.allow !== undefined
  const tellsIdentity = identityNames(header === false ? [] : [header])

  return {
    name: 'client-identity',
    state: () => ({ [field]: null }) as ClientIdentityState<Field>,
    onRequest: function identify(cx: Context<ClientIdentityState<Field>>): Reply | undefined {
      cx.request.headers.deleteWhere(tellsIdentity)
      const client = tlsOf(cx)?.client ?? null
      ;(cx.state as Record<Field, ClientCertificate | null>)[field] = client
      if (client === null) return required ? refuse(403, 'client-certificate-required') : undefined
      return allows(client) ? undefined : refuse(403, 'client-not-allowed')
    },
    onForward: function tellUpstream(cx: Context<ClientIdentityState<Field>>, out: ForwardHead): void {
      // Once more: a hook in between may have copied fields from somewhere.
      out.headers.deleteWhere(tellsIdentity)
      const client = cx.state[field]
      if (client === null) return
      if (header !== false) out.headers.set(header, client.fingerprint256)
      if (clientCert) {
        out.headers.set('Client-Cert', clientCertField(client))
        const chain = clientCertChainField(client)
        if (chain !== null) out.headers.set('Client-Cert-Chain', chain)
      }
      if (xfcc) out.headers.set('X-Forwarded-Client-Cert', forwardedClientCert(client))
    },
  }
}
