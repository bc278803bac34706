/** Judges an OCSP response (RFC 6960) before it is stapled: a wrong or old one would make clients refuse the server. */
import { derChildren, readDer, readObjectId, readTime } from '../der/read.ts'
import type { Certificate } from './material.ts'

const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1'
const GOOD = 0x80
/** Longer responses carry more certificates than a handshake should. */
const LONGEST = 16_384

/** When the response may be stapled, in ms since 1970. */
export interface StapleWindow {
  readonly from: number
  readonly to: number
}

/**
 * Reads when a response says "good" of this certificate. The signature is the client's to check; here it only has to
 * be the right response.
 * @throws Error with the reason not to staple it.
 */
export function readStaple(
  response: Uint8Array,
  certificate: Pick<Certificate, 'serialNumber'>,
): StapleWindow {
  if (response.length > LONGEST) throw new Error(`the response is longer than ${LONGEST} bytes`)
  const [status, bytes] = derChildren(readDer(response))
  if (status?.tag !== 0x0a || status.contents[0] !== 0 || bytes?.tag !== 0xa0) {
    throw new Error('the responder refused to answer')
  }
  const [type, basic] = derChildren(readDer(bytes.contents))
  if (!type || !basic || readObjectId(type.contents) !== BASIC_RESPONSE)
    throw new Error('it is no basic response')
  const [data] = derChildren(readDer(basic.contents))
  // [0] version, responderID ([1] or [2]) and producedAt stand before the list.
  const list = data && derChildren(data).find(field => field.tag === 0x30)
  for (const single of list ? derChildren(list) : []) {
    const [id, state, from, next] = derChildren(single)
    const serial = id && derChildren(id)[3]
    if (!serial || !state || !from || !isSerial(serial.contents, certificate.serialNumber)) continue
    if (state.tag !== GOOD) throw new Error('the certificate is revoked or unknown')
    if (next?.tag !== 0xa0) throw new Error('it does not say until when it holds')
    return { from: readTime(from), to: readTime(readDer(next.contents)) }
  }
  throw new Error('it is about another certificate')
}

function isSerial(integer: Uint8Array, hex: string): boolean {
  const strip = (text: string): string => text.toLowerCase().replace(/^0+/, '')
  return strip(Buffer.from(integer).toString('hex')) === strip(hex)
}
