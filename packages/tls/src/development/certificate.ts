/** A self-signed certificate, made on the spot, for development and tests. */
import { generateKeyPairSync, type KeyObject, randomBytes, X509Certificate } from 'node:crypto'
import { ConfigError, type ConfigFault } from '@postern/core'
import { toPem } from '../der/pem.ts'
import * as der from '../der/write.ts'
import { altNames, buildCertificate, extension, keyId, serialNumber } from '../x509/build.ts'
import { OID } from '../x509/extensions.ts'
import { readNames, type SubjectName } from '../x509/names.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Longer ones are refused by Apple's clients, also where the user trusts them. */
const MOST_DAYS = 825
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59)

const SUBJECT = 'Postern development certificate'
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
  const signed = buildCertificate(
    {
      serialNumber: serialNumber(random),
      // It says what it is in a browser's dialogue. No host name here: clients read those in subjectAltName alone.
      subject: SUBJECT,
      from: new Date(now - HOUR),
      to: new Date(now + days * DAY),
      publicKey,
      extensions: extensions(names, publicKey),
    },
    privateKey,
  )
  const cert = toPem('CERTIFICATE', signed)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert,
    fingerprint256: new X509Certificate(cert).fingerprint256,
  }
}

function extensions(names: readonly SubjectName[], publicKey: KeyObject): Uint8Array[] {
  return [
    // CA is false by default, and DER leaves defaults out.
    extension(OID.basicConstraints, true, der.derSequence()),
    // digitalSignature is bit 0: the highest of the byte, and seven that do not count.
    extension(OID.keyUsage, true, der.derBitString(Uint8Array.of(0x80), 7)),
    extension(OID.extendedKeyUsage, false, der.derSequence(der.derObjectId(SERVER_AUTH))),
    extension(OID.subjectKeyId, false, der.derOctetString(keyId(publicKey))),
    altNames(names),
  ]
}
