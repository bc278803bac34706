/** The opening handshake of WebSocket (RFC 6455, section 4; over HTTP/2: RFC 8441). */
import { createHash, randomBytes } from 'node:crypto'
import type { HeaderList } from '../headers/list.ts'
import type { Reply, RequestHead } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/

/** What is wrong with a client's handshake; `null` when nothing is. Over HTTP/2 there is no key to check. */
export function refuseHandshake(request: RequestHead): Reply | null {
  const { headers } = request
  const versions = headers.all('sec-websocket-version')
  // RFC 6455, 4.4: tell the versions that are spoken.
  if (versions.length !== 1 || versions[0] !== '13') {
    return refuse(400, 'websocket-version', { 'Sec-WebSocket-Version': '13' })
  }
  if (request.version === '2.0') return null
  const keys = headers.all('sec-websocket-key')
  return keys.length === 1 && KEY.test(keys[0]!) ? null : refuse(400, 'websocket-key')
}

/** A fresh `Sec-WebSocket-Key`. */
export function makeKey(): string {
  return randomBytes(16).toString('base64')
}

/** `Sec-WebSocket-Accept` for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64')
}

/** The fields of a 101 for a client of HTTP/1.1: this hop's own, and the proof that its key was read. */
export function switchingFields(headers: HeaderList, protocol: string, key: string | undefined): string[] {
  const fields = ['Connection', 'Upgrade', 'Upgrade', protocol]
  if (protocol === 'websocket' && key !== undefined) fields.push('Sec-WebSocket-Accept', acceptOf(key))
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'sec-websocket-accept') fields.push(name, value)
  }
  return fields
}
