/** References in replies that lead to the upstream itself, led back to where the client is. */

/** What is known of an exchange. */
export interface Surroundings {
  /** Authorities by which the upstream may call itself, normalised. */
  readonly own: readonly string[]
  /** Scheme and authority that the client uses. */
  readonly scheme: 'http' | 'https'
  readonly authority: string
  /** In front of the upstream's paths there, that clients do not see; `''` for none. */
  readonly base: string
  /** In front of the client's paths, that the upstream does not see; `''` for none. */
  readonly prefix: string
}

/**
 * A reference (RFC 3986, 4.1) as the client has to see it. Those to others and relative ones stay byte for byte as they are; in
 * those to the upstream itself scheme, authority, base and prefix are changed, and nothing else.
 */
export function mapReference(reference: string, about: Surroundings): string {
  const absolute = /^(?:(https?):)?\/\/([^/?#\\@\s]*)(.*)$/is.exec(reference)
  if (absolute !== null) {
    const [, scheme, authority = '', path = ''] = absolute
    if (!isOwn(authority, scheme?.toLowerCase(), about.own)) return reference
    const moved = movePath(path === '' || path.startsWith('/') ? path : `/${path}`, about)
    const start = scheme === undefined ? '' : `${about.scheme}:`
    return `${start}//${about.authority}${moved}`
  }
  // Not //, which is an authority, and not /\, which browsers take for one.
  return /^\/(?![/\\])/.test(reference) ? movePath(reference, about) : reference
}

function movePath(path: string, { base, prefix }: Surroundings): string {
  const rest = base !== '' && isUnder(path, base) ? path.slice(base.length) : path
  if (prefix === '') return rest === '' && path !== '' ? '/' : rest
  return rest === '' || rest.startsWith('/') ? prefix + rest : `${prefix}/${rest}`
}

function isUnder(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || /[/?#]/.test(path[base.length]!))
}

function isOwn(authority: string, scheme: string | undefined, own: readonly string[]): boolean {
  const lower = authority.toLowerCase()
  const port = scheme === 'https' ? ':443' : ':80'
  const plain = lower.endsWith(port) ? lower.slice(0, -port.length) : lower
  return own.includes(plain)
}
