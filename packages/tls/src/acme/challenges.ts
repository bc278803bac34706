/** Proofs of control over a name: HTTP-01, DNS-01 (RFC 8555, 8) and TLS-ALPN-01 (RFC 8737). */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Awaitable, Context, Filter, Reply } from '@postern/core'
import { refuse, reply } from '@postern/core'
import { toPem } from '../der/pem.ts'
import * as der from '../der/write.ts'
import type { CertificateInput } from '../store/material.ts'
import { altNames, buildCertificate, extension, serialNumber } from '../x509/build.ts'
import { OID } from '../x509/extensions.ts'
import type { AcmeStorage } from './storage.ts'

/** How control over a name is shown. */
export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01'

/** Sets and removes TXT records; resolves when the record can be seen. */
export interface DnsProvider {
  /** `name` is `_acme-challenge.example.com`. Several values may stand at once. */
  set(name: string, value: string): Awaitable<void>
  remove(name: string, value: string): Awaitable<void>
}

const WELL_KNOWN = '/.well-known/acme-challenge/'
const TOKEN = /^[\w-]{16,256}$/
const DAY = 86_400_000

/** Proofs that are shown now. */
export class Challenges {
  readonly #storage: AcmeStorage
  readonly #dns: DnsProvider | null
  readonly #tokens = new Map<string, string>()
  readonly #certificates = new Map<string, CertificateInput>()

  constructor(storage: AcmeStorage, dns: DnsProvider | null) {
    this.#storage = storage
    this.#dns = dns
  }

  /** Shows a proof; the function that it gives takes it away again. */
  async show(
    type: ChallengeType,
    name: string,
    token: string,
    keyAuthorization: string,
  ): Promise<() => Promise<void>> {
    if (type === 'http-01') {
      if (!TOKEN.test(token)) throw new Error('the token of a challenge is not base64url')
      this.#tokens.set(token, keyAuthorization)
      // Other machines behind the same name may be the ones that are asked.
      await this.#storage.write(`challenges/${token}`, keyAuthorization)
      return async () => {
        this.#tokens.delete(token)
        await this.#storage.remove(`challenges/${token}`)
      }
    }
    const digest = createHash('sha256').update(keyAuthorization).digest()
    if (type === 'dns-01') {
      const record = `_acme-challenge.${name}`
      const value = digest.toString('base64url')
      await this.#dns!.set(record, value)
      return async () => this.#dns!.remove(record, value)
    }
    this.#certificates.set(name, validationCertificate(name, digest))
    return async () => void this.#certificates.delete(name)
  }

  /** The certificate for a validation by TLS-ALPN-01. */
  certificateFor(name: string): CertificateInput | null {
    return this.#certificates.get(name) ?? null
  }

  /** Answers validations by HTTP-01; other requests pass. */
  gate(): Filter {
    const storage = this.#storage
    const tokens = this.#tokens
    return {
      name: 'acme-http-01',
      onRequest: function answerValidation(cx: Context): Reply | undefined | Promise<Reply | undefined> {
        const { path, method } = cx.request
        if (!path.startsWith(WELL_KNOWN)) return undefined
        const token = path.slice(WELL_KNOWN.length)
        if (!TOKEN.test(token)) return undefined
        if (method !== 'GET' && method !== 'HEAD')
          return refuse(405, 'method-not-allowed', { Allow: 'GET, HEAD' })
        const own = tokens.get(token)
        if (own !== undefined) return proof(own)
        return Promise.resolve(storage.read(`challenges/${token}`)).then(
          found => (found === null ? undefined : proof(found)),
          () => undefined,
        )
      },
    }
  }
}

function proof(text: string): Reply {
  return reply(200, text, {
    headers: { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' },
  })
}

/** Self-signed, for this name only, with the digest in a critical extension (RFC 8737, 3). */
function validationCertificate(name: string, digest: Buffer): CertificateInput {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const now = Date.now()
  const signed = buildCertificate(
    {
      serialNumber: serialNumber(randomBytes),
      subject: 'ACME validation',
      from: new Date(now - DAY),
      to: new Date(now + DAY),
      publicKey,
      extensions: [
        altNames([{ kind: 'dns', name }]),
        extension(OID.acmeIdentifier, true, der.derOctetString(digest)),
      ],
    },
    privateKey,
  )
  return {
    cert: toPem('CERTIFICATE', signed),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
