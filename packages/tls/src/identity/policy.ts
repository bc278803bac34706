/** Which client certificates a server name asks for, and which it accepts. */
import { createHash, X509Certificate } from 'node:crypto'
import type { ConfigFault } from '@postern/core'
import { assertChoice, assertKnown, shown } from '../config.ts'
import { pemBlocks } from '../der/pem.ts'
import { textOf } from '../store/material.ts'
import { type ClientCertificate, plainFingerprint } from './client.ts'

/** Who may come in, beyond having a certificate of a trusted authority. A client passes when it is in one of the lists. */
export interface ClientAllowList {
  /** SHA-256 of certificates in hex, with or without colons. */
  fingerprints?: readonly string[]
  /** Names of `subjectAltName`, with their kind: `dns:a.example`, `uri:spiffe://a/b`, `email:a@example`. Compared whole. */
  names?: readonly string[]
  /** SHA-256 of authorities in hex; one of them has to be in the verified path. */
  authorities?: readonly string[]
}

/** Client certificates for one server name. */
export interface ClientPolicyOptions {
  /** `'required'`: no connection without one. `'optional'`: without one the client is nobody; a wrong one is refused. */
  mode: 'required' | 'optional'
  /** Roots that are trusted for it, and intermediates that clients may leave out: PEM. */
  ca: string | Uint8Array | readonly (string | Uint8Array)[]
  /** Default: everybody with a certificate of these authorities. */
  allow?: ClientAllowList
}

/** Policies by server name. */
export type ClientPolicyTable = Readonly<Record<string, ClientPolicyOptions>>

/** A policy as the handshake uses it. */
export interface ClientPolicy {
  /** Equal for policies that accept the same clients. */
  readonly id: string
  /** Equal for policies with the same authorities. */
  readonly caId: string
  readonly required: boolean
  readonly anchors: readonly X509Certificate[]
  readonly caPem: readonly string[]
  readonly allows: (client: ClientCertificate) => boolean
}

const HOST = /^(?:\*|(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)$/
const NAME_KINDS = /^(?:dns|uri|email):\S{1,1024}$/
const MOST_CAS = 1000

/** Policies by server name: exact, `*.example.com` for one label, `*` for all others and clients without a name. */
export class ClientPolicies {
  readonly #exact = new Map<string, ClientPolicy>()
  readonly #wild = new Map<string, ClientPolicy>()
  readonly #others: ClientPolicy | null
  readonly size: number
  /** The same for all servers with the same policies: no ticket crosses from one set to another. */
  readonly sessionIdContext: string

  constructor(options: ClientPolicyTable, place: string, faults: ConfigFault[]) {
    assertTable(place, options, faults)
    const entries = Object.entries(options ?? {})
    const ids: string[] = []
    let others: ClientPolicy | null = null
    for (const [key, value] of entries) {
      const host = key.toLowerCase()
      const policy = readPolicy(value, `${place}.${key}`, faults)
      if (!HOST.test(host)) {
        const fix = "Write 'example.com', '*.example.com' or '*'."
        faults.push({ place, problem: `${shown(key)} is no server name`, fix })
      } else if (policy === null) continue
      else if (host === '*') others = policy
      else if (host.startsWith('*.')) this.#wild.set(host.slice(1), policy)
      else this.#exact.set(host, policy)
      ids.push(`${host} ${policy?.id}`)
    }
    this.#others = others
    this.size = entries.length
    this.sessionIdContext = createHash('sha256').update(ids.sort().join('\n')).digest('hex').slice(0, 32)
  }

  /** True when every connection needs a certificate of the same policy. */
  get uniform(): ClientPolicy | null {
    return this.size === 1 && this.#others?.required ? this.#others : null
  }

  /** True when it takes a server name to know the policy. */
  get dependsOnName(): boolean {
    return this.size > 1 || (this.size === 1 && this.#others === null)
  }

  /** The policy for a name in lower case; `''` for none. `null`: no certificate is asked for. */
  find(name: string): ClientPolicy | null {
    if (this.size === 0) return null
    const exact = this.#exact.get(name)
    if (exact) return exact
    const dot = name.indexOf('.')
    return (dot > 0 && this.#wild.get(name.slice(dot))) || this.#others
  }
}

function assertTable(place: string, options: unknown, faults: ConfigFault[]): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return
  const fix = "Write { 'admin.example.com': { mode: 'required', ca } }."
  faults.push({ place, problem: `${shown(options)} is no table of policies`, fix })
}

function readPolicy(options: ClientPolicyOptions, place: string, faults: ConfigFault[]): ClientPolicy | null {
  const before = faults.length
  assertKnown(place, options, ['mode', 'ca', 'allow'], faults)
  if (faults.length > before) return null
  assertChoice(`${place}.mode`, options.mode, ['required', 'optional'], faults)
  const anchors = readAuthorities(options.ca, `${place}.ca`, faults)
  const allows = readAllowList(options.allow, `${place}.allow`, faults)
  if (faults.length > before) return null
  const caPem = anchors.map(anchor => anchor.toString())
  const caId = digest(anchors.map(plainFingerprint).sort().join())
  const id = digest(JSON.stringify([options.mode, caId, options.allow ?? null]))
  return { id, caId, required: options.mode === 'required', anchors, caPem, allows }
}

function readAuthorities(
  given: ClientPolicyOptions['ca'],
  place: string,
  faults: ConfigFault[],
): X509Certificate[] {
  const texts = (Array.isArray(given) ? given : [given]) as readonly (string | Uint8Array)[]
  const found: X509Certificate[] = []
  for (const text of texts) {
    const blocks = typeof text === 'string' || text instanceof Uint8Array ? pemBlocks(textOf(text)) : []
    for (const block of blocks) {
      if (block.label !== 'CERTIFICATE') continue
      try {
        found.push(new X509Certificate(block.text))
      } catch {
        faults.push({
          place,
          problem: 'a certificate cannot be read',
          fix: 'Give PEM of X.509 certificates.',
        })
      }
    }
  }
  if (found.length === 0 || found.length > MOST_CAS) {
    const problem = `${found.length} authorities are given`
    faults.push({
      place,
      problem,
      fix: `Give 1 to ${MOST_CAS} certificates in PEM, for example of readFileSync.`,
    })
  }
  return found
}

/** A test for an allow-list. Faults go to `faults`. */
export function readAllowList(
  list: ClientAllowList | undefined,
  place: string,
  faults: ConfigFault[],
): (client: ClientCertificate) => boolean {
  if (list === undefined) return () => true
  assertKnown(place, list, ['fingerprints', 'names', 'authorities'], faults)
  const fingerprints = readFingerprints(list.fingerprints, `${place}.fingerprints`, faults)
  const authorities = readFingerprints(list.authorities, `${place}.authorities`, faults)
  const names = new Set<string>()
  for (const name of list.names ?? []) {
    if (typeof name === 'string' && NAME_KINDS.test(name)) {
      names.add(name.startsWith('dns:') ? name.toLowerCase() : name)
    } else {
      const fix = "Write 'dns:a.example', 'uri:spiffe://a/b' or 'email:a@example'."
      faults.push({ place: `${place}.names`, problem: `${shown(name)} is no name with its kind`, fix })
    }
  }
  if (fingerprints.size + authorities.size + names.size === 0) {
    faults.push({
      place,
      problem: 'it is empty: nobody could come in',
      fix: 'Leave it out, or name who may.',
    })
  }
  return client =>
    fingerprints.has(client.fingerprint256) ||
    client.authorities.some(one => authorities.has(one)) ||
    client.dns.some(name => names.has(`dns:${name}`)) ||
    client.uris.some(name => names.has(`uri:${name}`)) ||
    client.emails.some(name => names.has(`email:${name}`))
}

function readFingerprints(
  list: readonly string[] | undefined,
  place: string,
  faults: ConfigFault[],
): ReadonlySet<string> {
  const read = new Set<string>()
  for (const text of list ?? []) {
    const hex = String(text).replaceAll(':', '').toLowerCase()
    if (/^[0-9a-f]{64}$/.test(hex)) read.add(hex)
    else {
      const fix = 'Write the 64 hex digits of its SHA-256.'
      faults.push({ place, problem: `${shown(text)} is no SHA-256 fingerprint`, fix })
    }
  }
  return read
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
