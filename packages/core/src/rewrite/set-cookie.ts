/** `Set-Cookie` taken apart attribute by attribute (RFC 6265, 5.2). */

/** How the attributes of a cookie change. */
export interface CookieChanges {
  /** The new domain for a domain in lower case without its dot; `''` for none, `null` to leave it. */
  readonly domain: (domain: string) => string | null
  /** The new path for a path, or `null` to leave it. */
  readonly path: (path: string) => string | null
  /** Add `Secure` where it is missing. */
  readonly secure: boolean
}

/**
 * The line with its attributes changed; name, value, order and spelling of everything else stay. A `__Host-` cookie has no
 * domain and the path `/`, or browsers drop it: those two are left alone.
 */
export function changeCookie(line: string, changes: CookieChanges): string {
  const [pair = '', ...attributes] = line.split(';')
  const bound = /^\s*__host-/i.test(pair)
  const kept: string[] = [pair]
  let isSecure = false
  for (const attribute of attributes) {
    const equals = attribute.indexOf('=')
    const name = (equals === -1 ? attribute : attribute.slice(0, equals)).trim().toLowerCase()
    const value = equals === -1 ? '' : attribute.slice(equals + 1).trim()
    if (name === 'secure') isSecure = true
    if (name === 'domain' && !bound) {
      const domain = changes.domain(value.replace(/^\./, '').toLowerCase())
      if (domain === '') continue
      kept.push(domain === null ? attribute : `${attribute.slice(0, equals + 1)}${domain}`)
    } else if (name === 'path' && !bound && value.startsWith('/')) {
      const path = changes.path(value)
      kept.push(path === null ? attribute : `${attribute.slice(0, equals + 1)}${path}`)
    } else kept.push(attribute)
  }
  if (changes.secure && !isSecure) kept.push(' Secure')
  return kept.join(';')
}
