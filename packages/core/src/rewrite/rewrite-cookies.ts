/** Cookies that an upstream sets for names and paths that its clients do not know. */
import { flag, readOptions, something, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, ReplyHead } from '../pipeline/contract.ts'
import { type CookieChanges, changeCookie } from './set-cookie.ts'

/** Options of {@link rewriteCookies}. */
export interface RewriteCookiesOptions {
  /** New `Domain` for each old one; `''` takes the attribute off, so that the cookie is for the host alone. Default none. */
  domains?: Readonly<Record<string, string>>
  /** Prefix that was taken off the path (`stripPrefix`): paths get it back. Default none. */
  prefix?: string
  /** Adds `Secure` to cookies of clients whose connection is encrypted; default true. */
  secure?: boolean
}

/**
 * Changes `Domain` and `Path` of the cookies that an upstream sets, attribute by attribute; values are never touched. Cookies
 * whose name starts with `__Host-` keep both, as browsers demand.
 * @example rewriteCookies({ domains: { 'internal.test': '' }, prefix: '/app' })
 * @throws ConfigError for options that cannot work.
 */
export function rewriteCookies(options: RewriteCookiesOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<RewriteCookiesOptions>('rewriteCookies', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { domains = {}, prefix = '', secure = true } = given
  const known = new Map(
    Object.entries(domains).map(([from, to]) => [from.replace(/^\./, '').toLowerCase(), to]),
  )
  const changes = (isSecure: boolean): CookieChanges => ({
    domain: domain => known.get(domain) ?? null,
    path: path => (prefix === '' ? null : path === '/' ? prefix : prefix + path),
    secure: secure && isSecure,
  })
  const [plain, encrypted] = [changes(false), changes(true)]

  return {
    name: 'rewrite-cookies',
    onReply(cx: Context, head: ReplyHead): undefined {
      const { raw } = head.headers
      for (let i = 0; i < raw.length; i += 2) {
        if (raw[i]!.length !== 10 || raw[i]!.toLowerCase() !== 'set-cookie') continue
        raw[i + 1] = changeCookie(raw[i + 1]!, cx.request.scheme === 'https' ? encrypted : plain)
      }
    },
  }
}

const isDomain = (text: unknown): boolean =>
  typeof text === 'string' && /^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(text)

const RULES: Table<RewriteCookiesOptions> = {
  domains: something(
    'an object of old and new domains',
    value =>
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).every(([from, to]) => isDomain(from) && (to === '' || isDomain(to))),
    "Write for example { 'internal.test': 'example.com' }.",
  ),
  prefix: something(
    "a prefix like '/app'",
    value => typeof value === 'string' && /^(?:\/[!-.0-:<-~]+)+$/.test(value),
  ),
  secure: flag,
}
