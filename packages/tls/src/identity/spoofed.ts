/** Names under which servers tell each other who a client is. From a client itself they are lies. */

/** Anywhere in a name: `WL-Proxy-Client-Cert`, `CF-Client-Cert-SHA256`, `X-ARR-ClientCert`, `SSLClientCertSN`. */
const CERTIFICATE = /client-?cert|(?:^|-)(?:ssl|m?tls)-?client(?:-|$)/
/** `X-Client-Verify`, `X-Client-DN` and what they say of a subject or an issuer, behind anybody's prefix. */
const FAMILY =
  /(?:^|-)client-?(?:verif(?:y|ied)|[si]-?dn|dn|cn|subject|issuer|san|serial|fingerprint|spiffe)(?:-|$)/
/** Without "client" in the name: `X-SSL-Cert`, `X-SSL-Subject`, `CF-Cert-Presented`; `$WSCC` of WebSphere's plug-in. */
const OTHERS =
  /(?:^|-)(?:ssl|m?tls)-?(?:cert|verif|[si]-dn|dn|cn|subject|issuer|serial)|^(?:x-)?(?:cf|peer|user|forwarded)-cert|^-wscc$/

const REMEMBERED = 2048

/** The spelling that no application server can tell from `name`: lower case, all but letters and digits as `-`. */
export function foldIdentityName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}

/** A test for names that tell a client's identity, in any spelling. `own`: names that this edge writes. */
export function identityNames(own: readonly string[]): (name: string) => boolean {
  const folded = new Set(own.map(foldIdentityName))
  const known = new Map<string, boolean>()
  return name => {
    const before = known.get(name)
    if (before !== undefined) return before
    const plain = foldIdentityName(name)
    const answer = folded.has(plain) || CERTIFICATE.test(plain) || FAMILY.test(plain) || OTHERS.test(plain)
    if (known.size < REMEMBERED) known.set(name, answer)
    return answer
  }
}
