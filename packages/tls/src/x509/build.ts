/** Builds X.509 v3 certificates (RFC 5280) and requests for them (RFC 2986), signed with ECDSA and SHA-256. */
import { createHash, type KeyObject, sign } from 'node:crypto'
import * as der from '../der/write.ts'
import type { SubjectName } from './names.ts'

const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'
const SUBJECT_ALT_NAME = '2.5.29.17'

/** What a certificate says. */
export interface CertificateFields {
  /** Big-endian; the caller sees to it that it is positive. */
  serialNumber: Uint8Array
  /** Common name of the issuer; default the subject's. */
  issuer?: string
  subject: string
  from: Date
  to: Date
  publicKey: KeyObject
  /** Made by {@link extension}. */
  extensions: readonly Uint8Array[]
}

/** Signs a certificate; DER. The key has to be an EC key. */
export function buildCertificate(fields: CertificateFields, signer: KeyObject): Uint8Array {
  const algorithm = der.derSequence(der.derObjectId(ECDSA_SHA256))
  const toBeSigned = der.derSequence(
    der.derExplicit(0, der.derInteger(Uint8Array.of(2))),
    der.derInteger(fields.serialNumber),
    algorithm,
    commonName(fields.issuer ?? fields.subject),
    der.derSequence(der.derTime(fields.from), der.derTime(fields.to)),
    commonName(fields.subject),
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der.derExplicit(3, der.derSequence(...fields.extensions)),
  )
  return der.derSequence(toBeSigned, algorithm, der.derBitString(sign('sha256', toBeSigned, signer)))
}

/** A certificate request for these names, with an empty subject, as ACME servers take them (RFC 8555, 7.4); DER. */
export function buildRequest(
  names: readonly SubjectName[],
  publicKey: KeyObject,
  key: KeyObject,
): Uint8Array {
  const extensions = der.derSequence(altNames(names))
  const attribute = der.derSequence(der.derObjectId(EXTENSION_REQUEST), der.derSetOfOne(extensions))
  const info = der.derSequence(
    der.derInteger(Uint8Array.of(0)),
    der.derSequence(),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.derValue(0xa0, attribute),
  )
  const algorithm = der.derSequence(der.derObjectId(ECDSA_SHA256))
  return der.derSequence(info, algorithm, der.derBitString(sign('sha256', info, key)))
}

/** One extension. */
export function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  const flag = critical ? [der.derBoolean(true)] : []
  return der.derSequence(der.derObjectId(id), ...flag, der.derOctetString(value))
}

/** The extension `subjectAltName`. */
export function altNames(names: readonly SubjectName[]): Uint8Array {
  return extension(SUBJECT_ALT_NAME, false, der.derSequence(...names.map(generalName)))
}

/** Leftmost 160 bits of the SHA-256 of the key's bits (RFC 7093, 2, method 1): for P-256 the last 65 bytes. */
export function keyId(publicKey: KeyObject): Uint8Array {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

/** A positive serial number of 127 bits. Browsers remember issuer and serial, so each certificate has its own. */
export function serialNumber(random: (size: number) => Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(random(16))
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

function commonName(text: string): Uint8Array {
  const attribute = der.derSequence(der.derObjectId(COMMON_NAME), der.derUtf8String(text))
  return der.derSequence(der.derSetOfOne(attribute))
}

function generalName(name: SubjectName): Uint8Array {
  return name.kind === 'ip'
    ? der.derImplicit(7, name.bytes)
    : der.derImplicit(2, Buffer.from(name.name, 'latin1'))
}
