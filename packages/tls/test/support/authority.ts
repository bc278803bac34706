/** A certificate authority for tests: roots, intermediates, servers and clients. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { ConfigFault } from '@postern/core'
import { toPem } from '../../src/der/pem.ts'
import * as der from '../../src/der/write.ts'
import { buildCertificate, extension, keyId, serialNumber } from '../../src/x509/build.ts'
import { OID } from '../../src/x509/extensions.ts'
import { readNames } from '../../src/x509/names.ts'

const HOUR = 3_600_000
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

export interface Issued {
  cert: string
  key: string
  der: Uint8Array
  privateKey: KeyObject
}

export interface LeafOptions {
  subject?: string
  /** DNS names and addresses. */
  names?: string[]
  uris?: string[]
  emails?: string[]
  client?: boolean
  from?: number
  to?: number
  extra?: Uint8Array[]
  key?: { publicKey: KeyObject; privateKey: KeyObject }
}

export interface Authority extends Issued {
  issue(options: LeafOptions): Issued
  intermediate(subject: string, pathLength?: number, extra?: Uint8Array[]): Authority
}

export function authority(subject: string, pathLength?: number, extra: Uint8Array[] = []): Authority {
  return makeAuthority(subject, null, pathLength, extra)
}

function makeAuthority(
  subject: string,
  parent: { subject: string; privateKey: KeyObject; publicKey: KeyObject } | null,
  pathLength: number | undefined,
  extra: Uint8Array[],
): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const length = pathLength === undefined ? [] : [der.derInteger(Uint8Array.of(pathLength))]
  const raw = buildCertificate(
    {
      serialNumber: serialNumber(randomBytes),
      issuer: parent?.subject ?? subject,
      subject,
      from: new Date(Date.now() - HOUR),
      to: new Date(Date.now() + 300 * 24 * HOUR),
      publicKey,
      extensions: [
        extension(OID.basicConstraints, true, der.derSequence(der.derBoolean(true), ...length)),
        // keyCertSign and cRLSign.
        extension(OID.keyUsage, true, der.derBitString(Uint8Array.of(0x06), 1)),
        extension(OID.subjectKeyId, false, der.derOctetString(keyId(publicKey))),
        ...extra,
      ],
    },
    parent?.privateKey ?? privateKey,
  )
  const own = { subject, privateKey, publicKey }
  return {
    ...issued(raw, privateKey),
    issue: options => issueLeaf(own, options),
    intermediate: (name, depth, more = []) => makeAuthority(name, own, depth, more),
  }
}

function issueLeaf(
  parent: { subject: string; privateKey: KeyObject; publicKey: KeyObject },
  options: LeafOptions,
): Issued {
  const { publicKey, privateKey } = options.key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { names = [], uris = [], emails = [], client = false } = options
  const faults: ConfigFault[] = []
  const general = [
    ...(names.length > 0 ? readNames(names, 'names', faults) : []).map(name =>
      name.kind === 'ip' ? der.derImplicit(7, name.bytes) : der.derImplicit(2, Buffer.from(name.name)),
    ),
    ...uris.map(uri => der.derImplicit(6, Buffer.from(uri, 'latin1'))),
    ...emails.map(email => der.derImplicit(1, Buffer.from(email, 'latin1'))),
  ]
  if (faults.length > 0) throw new Error(faults[0]!.problem)
  const raw = buildCertificate(
    {
      serialNumber: serialNumber(randomBytes),
      issuer: parent.subject,
      subject: options.subject ?? names[0] ?? 'somebody',
      from: new Date(options.from ?? Date.now() - HOUR),
      to: new Date(options.to ?? Date.now() + 30 * 24 * HOUR),
      publicKey,
      extensions: [
        extension(OID.basicConstraints, true, der.derSequence()),
        extension(OID.keyUsage, true, der.derBitString(Uint8Array.of(0x80), 7)),
        extension(
          OID.extendedKeyUsage,
          false,
          der.derSequence(der.derObjectId(client ? CLIENT_AUTH : SERVER_AUTH)),
        ),
        extension(OID.authorityKeyId, false, der.derSequence(der.derImplicit(0, keyId(parent.publicKey)))),
        ...(general.length > 0 ? [extension(OID.subjectAltName, false, der.derSequence(...general))] : []),
        ...(options.extra ?? []),
      ],
    },
    parent.privateKey,
  )
  return issued(raw, privateKey)
}

function issued(raw: Uint8Array, privateKey: KeyObject): Issued {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert: toPem('CERTIFICATE', raw), key, der: raw, privateKey }
}
