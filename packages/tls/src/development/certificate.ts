/** A self-signed certificate, made on the spot, for development and tests. */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { ConfigError, type ConfigFault } from '@postern/core'
import * as der from './der.ts'
import { readNames, type SubjectName } from './names.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Longer ones are refused by Apple's clients, also where the user trusts them. */
const MOST_DAYS = 825
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59)

const COMMON_NAME = '2.5.4.3'
const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const SUBJECT_KEY_ID = '2.5.29.14'
const KEY_USAGE = '2.5.29.15'
const SUBJECT_ALT_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

/** Options of {@link developmentCertificate}. */
export interface DevelopmentCertificateOptions {
  /**
   * Host names (also `*.app.localhost`) and IP addresses that it stands for, 1 to 100 of them.
   * Default `['localhost', '127.0.0.1', '::1']`.
   */
  names?: readonly string[]
  /** Days until it ends, 1 to 825; default 30. It starts an hour ago, for clocks that are behind. */
  days?: number
  /** Milliseconds since 1970; default `Date.now`. */
  clock?: () => number
  /** Random bytes for the serial number; default `randomBytes` of node:crypto. The key does not come from here. */
  random?: (size: number) => Uint8Array
}

/** A key and its certificate, in PEM as node:tls takes them. */
export interface DevelopmentCertificate {
  /** PKCS #8. */
  key: string
  cert: string
  /** SHA-256 of the certificate in hex with colons, as browsers and openssl show it. */
  fingerprint256: string
}

/**
 * Makes an ECDSA P-256 key and a self-signed X.509 v3 certificate for it (RFC 5280), valid as a TLS server only and
 * not as an authority. Clients warn unless they are given `cert` as trusted; it is not for production.
 * @example
 * const { key, cert } = developmentCertificate()
 * const server = createSecureServer({ key, cert, allowHTTP1: true })
 * @throws ConfigError with every name that no client could match, and for `days` out of range.
 */
export function developmentCertificate(options: DevelopmentCertificateOptions = {}): DevelopmentCertificate {
  const { days = 30, clock = Date.now, random = randomBytes } = options
  const faults: ConfigFault[] = []
  const names = readNames(
    options.names ?? ['localhost', '127.0.0.1', '::1'],
    'developmentCertificate.names',
    faults,
  )
  if (!Number.isSafeInteger(days) || days < 1 || days > MOST_DAYS) {
    const problem = `${String(days)} is no whole number from 1 to ${MOST_DAYS}`
    faults.push({ place: 'developmentCertificate.days', problem, fix: 'Choose one in that range.' })
  }
  const now = clock()
  if (!(now - HOUR >= 0 && now + MOST_DAYS * DAY <= LAST_INSTANT)) {
    const problem = `${String(now)} ms are no time from 1970 to 9999`
    faults.push({ place: 'developmentCertificate.clock', problem, fix: 'Return milliseconds since 1970.' })
  }
  if (faults.length > 0) throw new ConfigError(faults)

  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der.derSequence(der.derObjectId(ECDSA_SHA256))
  const toBeSigned = der.derSequence(
    der.derExplicit(0, der.derInteger(Uint8Array.of(2))),
    der.derInteger(serialNumber(random)),
    algorithm,
    distinguishedName(),
    der.derSequence(der.derTime(new Date(now - HOUR)), der.derTime(new Date(now + days * DAY))),
    distinguishedName(),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.derExplicit(3, extensions(names, publicKey)),
  )
  const signature = der.derBitString(sign('sha256', toBeSigned, privateKey))
  const cert = pem(der.derSequence(toBeSigned, algorithm, signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert,
    fingerprint256: new X509Certificate(cert).fingerprint256,
  }
}

/** Positive, of 127 bits always; browsers remember issuer and serial, so each certificate has its own. */
function serialNumber(random: (size: number) => Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(random(16))
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

/** Says what it is in a browser's dialogue. No host name here: clients read those in subjectAltName alone. */
function distinguishedName(): Uint8Array {
  const text = der.derUtf8String('Postern development certificate')
  return der.derSequence(der.derSetOfOne(der.derSequence(der.derObjectId(COMMON_NAME), text)))
}

function extensions(names: readonly SubjectName[], publicKey: KeyObject): Uint8Array {
  return der.derSequence(
    // CA is false by default, and DER leaves defaults out.
    extension(BASIC_CONSTRAINTS, true, der.derSequence()),
    // digitalSignature is bit 0: the highest of the byte, and seven that do not count.
    extension(KEY_USAGE, true, der.derBitString(Uint8Array.of(0x80), 7)),
    extension(EXTENDED_KEY_USAGE, false, der.derSequence(der.derObjectId(SERVER_AUTH))),
    extension(SUBJECT_KEY_ID, false, der.derOctetString(keyId(publicKey))),
    extension(SUBJECT_ALT_NAME, false, der.derSequence(...names.map(generalName))),
  )
}

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  const flag = critical ? [der.derBoolean(true)] : []
  return der.derSequence(der.derObjectId(id), ...flag, der.derOctetString(value))
}

function generalName(name: SubjectName): Uint8Array {
  return name.kind === 'ip'
    ? der.derImplicit(7, name.bytes)
    : der.derImplicit(2, Buffer.from(name.name, 'latin1'))
}

/** Leftmost 160 bits of the SHA-256 of the key's bits (RFC 7093, 2, method 1): for P-256 the last 65 bytes. */
function keyId(publicKey: KeyObject): Uint8Array {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

function pem(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
