/** Tells browsers to be strict, and tells nobody what software runs behind the edge. */
import type { Context, Filter, ReplyHead } from '../pipeline/contract.ts'
import { type Policy, placeOf, REMOVED, readPolicy } from './security-policy.ts'

/** `Strict-Transport-Security` (RFC 6797, 6.1). */
export interface HstsOptions {
  /** Seconds for which a browser uses HTTPS only; default 63072000, two years. 0 makes browsers forget. */
  maxAge?: number
  /** Sub-domains too; default true. */
  includeSubDomains?: boolean
  /** Ask for a place in the browsers' built-in list, which is hard to leave; default false. */
  preload?: boolean
}

/** Options of {@link securityHeaders}. `false` leaves a field to the origin. */
export interface SecurityHeadersOptions {
  /** Default: two years with sub-domains. Sent over HTTPS only (RFC 6797, 7.2). Off: the first visit of each can be tapped. */
  hsts?: HstsOptions | false
  /** `X-Content-Type-Options: nosniff`; default true. Off: uploads may be run as scripts. Never left to the origin. */
  contentTypeOptions?: boolean
  /** `X-Frame-Options`; default `SAMEORIGIN`. Off: other sites may frame the pages and have them clicked. */
  frameOptions?: 'DENY' | 'SAMEORIGIN' | false
  /** `Referrer-Policy`; default `strict-origin-when-cross-origin`. Off: older browsers tell whole addresses to other sites. */
  referrerPolicy?: string | false
  /** `Permissions-Policy`; default `camera=(), geolocation=(), microphone=(), payment=(), usb=()`. */
  permissionsPolicy?: string | false
  /** `Content-Security-Policy`; default none, because no policy fits every site. */
  contentSecurityPolicy?: string | false
  /** `Cross-Origin-Opener-Policy`; default none: it breaks sign-in by pop-up. */
  crossOriginOpenerPolicy?:
    | 'same-origin'
    | 'same-origin-allow-popups'
    | 'noopener-allow-popups'
    | 'unsafe-none'
    | false
  /** `Cross-Origin-Embedder-Policy`; default none: it breaks what is embedded from other sites. */
  crossOriginEmbedderPolicy?: 'require-corp' | 'credentialless' | 'unsafe-none' | false
  /** `Cross-Origin-Resource-Policy`; default none: it breaks images and scripts that other sites may use. */
  crossOriginResourcePolicy?: 'same-origin' | 'same-site' | 'cross-origin' | false
  /** Fields that name software, removed from each reply; default `Server` and `X-Powered-By`. */
  remove?: readonly string[]
  /** True: the values here replace those that the origin sent. Default false: the origin knows its pages better. */
  override?: boolean
}

// The marks of a reply are what inner filters of this kind have decided: fields by option, and above them fields by default.
const BY_OPTION = REMOVED - 1
const BY_DEFAULT = 10

interface MarkedHead extends ReplyHead {
  marks?: number | undefined
}

/**
 * Sets the security fields of each reply and removes those that name software.
 *
 * Use it again in a route to change single fields there: what the inner one names in its options wins, what it only
 * has by default does not. No field is ever doubled.
 * @example
 * pipeline()
 *   .use(securityHeaders())
 *   .route('/admin/*', r => r.use(securityHeaders({ contentSecurityPolicy: "default-src 'self'" })).handle(proxy(app)))
 * @throws ConfigError for values that a browser would not understand.
 */
export function securityHeaders(options: SecurityHeadersOptions = {}): Filter {
  const policy = readPolicy(options)
  return {
    name: 'security-headers',
    onReply: function setSecurityHeaders(cx: Context, head: ReplyHead): undefined {
      apply(policy, cx.request.scheme === 'https', head)
    },
  }
}

function apply(policy: Policy, secure: boolean, head: MarkedHead): void {
  const { raw } = head.headers
  const { length } = raw
  const { places, bitOf, bits, lines, named } = policy
  const decided = head.marks ?? 0
  const taken = decided & BY_OPTION
  const weak = decided >> BY_DEFAULT
  const unwanted = REMOVED | ((policy.replacing | (weak & named)) & ~taken) | (secure ? 0 : policy.secureOnly)
  let present = taken
  let kept = 0
  for (let i = 0; i < length; i += 2) {
    const name = raw[i]!
    if (places[placeOf(name)] === 1) {
      const bit = bitOf.get(name.toLowerCase()) ?? 0
      if ((bit & unwanted) !== 0) continue
      present |= bit
    }
    if (kept !== i) {
      raw[kept] = name
      raw[kept + 1] = raw[i + 1]!
    }
    kept += 2
  }
  if (kept !== length) raw.length = kept

  let pushed = 0
  for (let i = 0; i < bits.length; i++) {
    const bit = bits[i]!
    if ((bit & present) !== 0 || (bit === policy.secureOnly && !secure)) continue
    raw.push(lines[2 * i]!, lines[2 * i + 1]!)
    pushed |= bit
  }
  const weakNow = (pushed | weak) & ~(named | taken)
  head.marks = taken | named | (weakNow << BY_DEFAULT)
}
