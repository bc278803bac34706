/** Names under which servers tell each other who a client is. From a client itself they are lies. */

const FAMILY =
  /^(?:x-)?(?:(?:forwarded|ssl|tls|mtls|amzn-mtls|arr|envoy)-)*client-?(?:cert(?:ificate)?|verif(?:y|ied)|[si]-?dn|dn|subject|issuer|san|serial|fingerprint)(?:-|$)/
const SSL = /^(?:x-)?(?:forwarded-)?ssl-(?:cert|client|verif)/
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
    const answer = folded.has(plain) || FAMILY.test(plain) || SSL.test(plain)
    if (known.size < REMEMBERED) known.set(name, answer)
    return answer
  }
}
