/** Extensions of an X.509 v3 certificate (RFC 5280, 4.2) that node:crypto does not tell. */
import { derChildren, readDer, readObjectId } from '../der/read.ts'

/** Object identifiers of extensions. */
export const OID = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  /** RFC 8737, 3. */
  acmeIdentifier: '1.3.6.1.5.5.7.1.31',
} as const

/** An extension as it stands in a certificate. */
export interface Extension {
  readonly critical: boolean
  /** The DER inside the OCTET STRING. */
  readonly value: Uint8Array
}

/** Names of a certificate's `subjectAltName`. Values are printable ASCII; others are left out. */
export interface AltNames {
  /** Lower case. */
  readonly dns: readonly string[]
  readonly emails: readonly string[]
  /** For example SPIFFE identities. Compared byte for byte. */
  readonly uris: readonly string[]
  /** Bytes in hex: 8 or 32 digits. */
  readonly addresses: readonly string[]
}

const EXTENSIONS_TAG = 0xa3
const PRINTABLE = /^[\x21-\x7e]{1,1024}$/

/** Extensions by object identifier. @throws RangeError for what is no certificate, or names an extension twice. */
export function readExtensions(certificate: Uint8Array): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>()
  const [toBeSigned] = derChildren(readDer(certificate))
  const list = toBeSigned && derChildren(toBeSigned).find(field => field.tag === EXTENSIONS_TAG)
  for (const extension of list ? derChildren(readDer(list.contents)) : []) {
    const [id, ...rest] = derChildren(extension)
    const value = rest.at(-1)
    if (id?.tag !== 0x06 || value?.tag !== 0x04 || rest.length > 2) {
      throw new RangeError('an extension is not in the form of RFC 5280')
    }
    const oid = readObjectId(id.contents)
    if (found.has(oid)) throw new RangeError(`extension ${oid} is there twice`)
    found.set(oid, { critical: rest.length === 2 && rest[0]!.contents[0] === 0xff, value: value.contents })
  }
  return found
}

/** Names of `subjectAltName`; empty lists without one. */
export function readAltNames(extensions: ReadonlyMap<string, Extension>): AltNames {
  const names = {
    dns: [] as string[],
    emails: [] as string[],
    uris: [] as string[],
    addresses: [] as string[],
  }
  const extension = extensions.get(OID.subjectAltName)
  for (const { tag, contents } of extension ? derChildren(readDer(extension.value)) : []) {
    const bytes = Buffer.from(contents)
    if (tag === 0x87) {
      if (bytes.length === 4 || bytes.length === 16) names.addresses.push(bytes.toString('hex'))
      continue
    }
    // A name with a NUL or a line break reads differently elsewhere: nobody gets to see it.
    const text = bytes.toString('latin1')
    if (!PRINTABLE.test(text)) continue
    if (tag === 0x81) names.emails.push(text)
    else if (tag === 0x82) names.dns.push(text.toLowerCase())
    else if (tag === 0x86) names.uris.push(text)
  }
  return names
}

/** Key identifier of the issuer (RFC 5280, 4.2.1.1); `null` when the certificate does not tell. */
export function readAuthorityKeyId(extensions: ReadonlyMap<string, Extension>): Uint8Array | null {
  const extension = extensions.get(OID.authorityKeyId)
  if (!extension) return null
  return derChildren(readDer(extension.value)).find(field => field.tag === 0x80)?.contents ?? null
}

/** `pathLenConstraint` (RFC 5280, 4.2.1.9); `Infinity` without one, `-1` for a certificate that is no authority. */
export function readPathLength(extensions: ReadonlyMap<string, Extension>): number {
  const extension = extensions.get(OID.basicConstraints)
  const fields = extension ? derChildren(readDer(extension.value)) : []
  if (fields[0]?.tag !== 0x01 || fields[0].contents[0] !== 0xff) return -1
  const length = fields[1]
  if (!length) return Number.POSITIVE_INFINITY
  if (length.tag !== 0x02 || length.contents.length !== 1 || length.contents[0]! > 127) return 0
  return length.contents[0]!
}
