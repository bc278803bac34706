/** A key with its certificate chain: read, checked, and told in plain data. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { breaksOff, pemBlocks } from '../der/pem.ts'
import { readAltNames, readExtensions } from '../x509/extensions.ts'

/** A certificate with its key, as text or bytes. */
export interface CertificateInput {
  /** PEM: the certificate, then its intermediates. */
  cert: string | Uint8Array
  /** PEM: PKCS #8, PKCS #1 or SEC 1. */
  key: string | Uint8Array
  /** Of an encrypted key. */
  passphrase?: string
  /** A DER OCSP response to staple (RFC 6066, 8). Left out when it is not for this certificate, or too old. */
  ocsp?: Uint8Array
  /** What messages call it; default its place in the list. */
  label?: string
}

/** A certificate of the store, without its key. */
export interface Certificate {
  /** Where it came from: a path, or a label. */
  readonly source: string
  /** DNS names of `subjectAltName`, lower case; wildcards as they stand. */
  readonly names: readonly string[]
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprint256: string
  /** Hex, upper case. */
  readonly serialNumber: string
  readonly issuer: string
  /** Milliseconds since 1970. */
  readonly validFrom: number
  /** Milliseconds since 1970. */
  readonly validTo: number
  /** Certificates that are sent: the leaf and its intermediates, DER. */
  readonly chain: readonly Uint8Array[]
}

/** The same with all that a context needs. */
export interface Material extends Certificate {
  /** Equal only for the same chain. */
  readonly id: string
  readonly leaf: X509Certificate
  readonly certPem: string
  readonly keyPem: string
  readonly ocsp: Uint8Array | null
}

/** The most certificates in one chain. */
const LONGEST_CHAIN = 10
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']
const DNS_NAME =
  /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Certificates of a PEM text. @throws Error for what is none. */
export function readChain(pem: string): X509Certificate[] {
  const blocks = pemBlocks(pem).filter(block => /^(?:X509 |TRUSTED )?CERTIFICATE$/.test(block.label))
  // The rest is on its way: a chain without its intermediates would be served until it is there.
  if (breaksOff(pem)) throw new Error('it breaks off inside a block')
  if (blocks.length > LONGEST_CHAIN) throw new Error(`it holds more than ${LONGEST_CHAIN} certificates`)
  return blocks.map(block => new X509Certificate(block.text))
}

/** The private key of a text. @throws Error that says nothing of the key. */
export function readKey(pem: string, passphrase?: string): KeyObject {
  const input = passphrase === undefined ? pem : { key: pem, passphrase }
  try {
    return createPrivateKey(input)
  } catch {
    // Perhaps an error of somebody else, which OpenSSL has kept until now: the second try tells.
  }
  try {
    return createPrivateKey(input)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ERR_MISSING_PASSPHRASE') throw new Error('its key is encrypted and no passphrase is given')
    throw new Error(
      passphrase === undefined ? 'its key cannot be read' : 'its key cannot be read with this passphrase',
    )
  }
}

/** Names the public half, so that keys and certificates find each other. */
export function publicKeyId(key: KeyObject): string {
  const half = key.type === 'private' ? createPublicKey(key) : key
  return createHash('sha256')
    .update(half.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}

/**
 * Joins a chain and its key. Checks that they belong together, that each certificate is signed by the next, and that
 * OpenSSL will take the key. Dates are told and not judged: a clock may be wrong, and an old certificate is better than none.
 * @throws Error with the reason.
 */
export function makeMaterial(
  chain: readonly X509Certificate[],
  key: KeyObject,
  source: string,
  ocsp: Uint8Array | null = null,
): Material {
  const [leaf] = chain
  if (!leaf) throw new Error('it holds no certificate')
  if (!leaf.checkPrivateKey(key)) throw new Error('its key belongs to another certificate')
  assertStrength(key)
  for (const [index, certificate] of chain.slice(0, -1).entries()) {
    const next = chain[index + 1]!
    if (!certificate.checkIssued(next) || !certificate.verify(next.publicKey)) {
      throw new Error(`certificate ${index + 1} of its chain is not signed by the one that follows`)
    }
  }
  const extensions = readExtensions(leaf.raw)
  const names = readAltNames(extensions).dns.filter(name => DNS_NAME.test(name) && isIP(name) === 0)
  // A root is known to clients or is not; sending it only makes the handshake longer.
  const sent = chain.filter((one, index) => index === 0 || !isRoot(one))
  const usages = leaf.keyUsage as string[] | undefined
  if (usages && !usages.includes('1.3.6.1.5.5.7.3.1') && !usages.includes('2.5.29.37.0')) {
    throw new Error('it is not meant for servers (extendedKeyUsage)')
  }
  const certPem = sent.map(one => one.toString()).join('')
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    id: createHash('sha256').update(certPem).digest('base64url'),
    source,
    names: [...new Set(names)],
    fingerprint256: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    serialNumber: leaf.serialNumber,
    issuer: leaf.issuer.replaceAll('\n', ', '),
    validFrom: Date.parse(leaf.validFrom),
    validTo: Date.parse(leaf.validTo),
    chain: sent.map(one => one.raw),
    leaf,
    certPem,
    keyPem,
    ocsp,
  }
}

/** Reads what the user gave as text or bytes. @throws Error with the reason. */
export function readInput(input: CertificateInput, source: string): Material {
  const key = readKey(textOf(input.key), input.passphrase)
  return makeMaterial(readChain(textOf(input.cert)), key, source, input.ocsp ?? null)
}

export function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
}

export function isRoot(certificate: X509Certificate): boolean {
  return certificate.ca && certificate.checkIssued(certificate)
}

/** What OpenSSL refuses at its security level 2 would only come out at a client's handshake. */
function assertStrength(key: KeyObject): void {
  const type = key.asymmetricKeyType
  const details = key.asymmetricKeyDetails
  if (type === 'ed25519' || type === 'ed448') return
  if ((type === 'rsa' || type === 'rsa-pss') && (details?.modulusLength ?? 0) >= 2048) return
  if (type === 'ec' && CURVES.includes(details?.namedCurve ?? '')) return
  throw new Error('its key is not RSA of 2048 bits or more, ECDSA on P-256, P-384 or P-521, or EdDSA')
}
