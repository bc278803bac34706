/** Secure contexts: made when a client first asks for a name, kept in a bounded list. Each is about 30 KB and a millisecond. */
import { createSecureContext, type SecureContext } from 'node:tls'
import QuickLRU from 'quick-lru'
import type { ClientPolicy } from '../identity/policy.ts'
import type { ProtocolOptions } from '../policy/protocol.ts'
import type { Material } from './material.ts'

/** Makes and keeps contexts. */
export class Contexts {
  readonly #protocol: ProtocolOptions
  readonly #kept: QuickLRU<string, SecureContext>
  made = 0

  constructor(protocol: ProtocolOptions, most: number) {
    this.#protocol = protocol
    this.#kept = new QuickLRU({ maxSize: most })
  }

  /** The context for a certificate under a policy; the same one while both stay. @throws Error of OpenSSL. */
  get(material: Material, policy: ClientPolicy | null): SecureContext {
    const id = policy === null ? material.id : `${material.id} ${policy.caId}`
    const kept = this.#kept.get(id)
    if (kept) return kept
    const made = createSecureContext(contextOptions(this.#protocol, material, policy))
    this.made++
    this.#kept.set(id, made)
    return made
  }
}

/** What `createSecureContext` and a server take. */
export function contextOptions(
  protocol: ProtocolOptions,
  material: Material,
  policy: ClientPolicy | null,
): ProtocolOptions & { cert: string; key: string; ca?: string[] } {
  const base = { ...protocol, cert: material.certPem, key: material.keyPem }
  return policy === null ? base : { ...base, ca: [...policy.caPem] }
}
