/** A client certificate and its authority, made on the spot, for development and tests of client certificates. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { ConfigError, type ConfigFault } from '@postern/core'
import { assertKnown, assertWhole } from '../config.ts'
import { toPem } from '../der/pem.ts'
import * as der from '../der/write.ts'
import { altNames, buildCertificate, extension, keyId, serialNumber } from '../x509/build.ts'
import { OID } from '../x509/extensions.ts'
import { readNames, type SubjectName } from '../x509/names.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const AUTHORITY = 'Postern development authority'

/** Options of {@link developmentClient}. */
export interface DevelopmentClientOptions {
  /** Common name of the client; default `Postern development client`. */
  subject?: string
  /** DNS names for its `subjectAltName`; default none. */
  names?: readonly string[]
  /** Days until both end, 1 to 825; default 30. */
  days?: number
}

/** A client's key and certificate with the authority to trust for it, PEM. */
export interface DevelopmentClient {
  /** PKCS #8. */
  key: string
  cert: string
  /** The authority. Its key is gone: it signs nothing else. */
  ca: string
}

/**
 * Makes an authority, one client certificate of it (ECDSA P-256, for TLS clients only), and forgets the authority's key.
 * @example
 * const { key, cert, ca } = developmentClient({ subject: 'alice' })
 * const tls = await certificates({ pem: developmentCertificate(), clients: { '*': { mode: 'required', ca } } })
 * @throws ConfigError for names that no certificate can hold, and for `days` out of range.
 */
export function developmentClient(options: DevelopmentClientOptions = {}): DevelopmentClient {
  const { subject = 'Postern development client', days = 30 } = options
  const faults: ConfigFault[] = []
  assertKnown('developmentClient', options, ['subject', 'names', 'days'], faults)
  assertWhole('developmentClient.days', days, 1, 825, faults)
  if (typeof subject !== 'string' || !/^[\x20-\x7e]{1,64}$/.test(subject)) {
    const fix = 'Write 1 to 64 printable ASCII characters.'
    faults.push({ place: 'developmentClient.subject', problem: 'it cannot be used', fix })
  }
  const names = options.names ? readNames(options.names, 'developmentClient.names', faults) : []
  if (faults.length > 0) throw new ConfigError(faults)

  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const client = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const now = Date.now()
  const sign = (name: string, publicKey: KeyObject, extensions: Uint8Array[]): string => {
    const fields = {
      subject: name,
      issuer: AUTHORITY,
      publicKey,
      extensions,
      serialNumber: serialNumber(randomBytes),
    }
    const dates = { from: new Date(now - HOUR), to: new Date(now + days * DAY) }
    return toPem('CERTIFICATE', buildCertificate({ ...fields, ...dates }, authority.privateKey))
  }
  return {
    key: client.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: sign(subject, client.publicKey, clientExtensions(names)),
    ca: sign(AUTHORITY, authority.publicKey, [
      extension(
        OID.basicConstraints,
        true,
        der.derSequence(der.derBoolean(true), der.derInteger(Uint8Array.of(0))),
      ),
      // keyCertSign.
      extension(OID.keyUsage, true, der.derBitString(Uint8Array.of(0x04), 2)),
      extension(OID.subjectKeyId, false, der.derOctetString(keyId(authority.publicKey))),
    ]),
  }
}

function clientExtensions(names: readonly SubjectName[]): Uint8Array[] {
  return [
    extension(OID.basicConstraints, true, der.derSequence()),
    // digitalSignature.
    extension(OID.keyUsage, true, der.derBitString(Uint8Array.of(0x80), 7)),
    extension(OID.extendedKeyUsage, false, der.derSequence(der.derObjectId(CLIENT_AUTH))),
    ...(names.length > 0 ? [altNames(names)] : []),
  ]
}
