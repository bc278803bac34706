/** Reads the first bytes of a connection without taking them: PROXY header, ClientHello or the start of a request. */
import type { Socket } from 'node:net'
import { Hello } from '../hello/facts.ts'
import { MOST_HELLO_BYTES, parseClientHello } from '../hello/parse.ts'
import type { ProxiedAddresses } from '../server/raw.ts'
import { readProxyHeader } from './proxy-protocol.ts'

/** What a connection turned out to be. */
export type Opening =
  | { readonly kind: 'tls'; readonly hello: Hello; readonly addresses: ProxiedAddresses | null }
  | { readonly kind: 'http1' | 'h2c'; readonly addresses: ProxiedAddresses | null }

/** Why it was none of these. */
export type OpeningFault = 'proxy-header' | 'hello' | 'unknown-protocol'

const PREFACE = Buffer.from('PRI ')

/**
 * Calls `done` once it is clear what comes; the bytes are put back, so the next reader sees them, without the PROXY
 * header. At most 16 KB are held. Whoever calls it closes sockets that take too long.
 */
export function peek(
  socket: Socket,
  expectsProxy: boolean,
  done: (opening: Opening | OpeningFault, bytes: Buffer) => void,
): void {
  let held: Buffer | null = null
  let addresses: ProxiedAddresses | null = null
  let waitsForProxy = expectsProxy

  const take = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    held = held === null ? chunk : Buffer.concat([held, chunk])
    if (waitsForProxy) {
      const header = readProxyHeader(held)
      if (header === 'more') return
      if (header === 'invalid') return finish('proxy-header')
      waitsForProxy = false
      addresses = header.addresses
      held = held.subarray(header.length)
    }
    if (held.length === 0) return
    const opening = look(held)
    if (opening !== 'more') finish(opening)
  }

  function look(bytes: Buffer): Opening | OpeningFault | 'more' {
    const first = bytes[0]!
    if (first >= 0x41 && first <= 0x5a) {
      const length = Math.min(bytes.length, PREFACE.length)
      const like = bytes.compare(PREFACE, 0, length, 0, length) === 0
      if (like && length < PREFACE.length) return 'more'
      return { kind: like ? 'h2c' : 'http1', addresses }
    }
    const hello = parseClientHello(bytes)
    if (hello === 'more') return bytes.length > MOST_HELLO_BYTES ? 'hello' : 'more'
    if (hello === 'not-tls') return 'unknown-protocol'
    if (typeof hello === 'string') return 'hello'
    return { kind: 'tls', hello: new Hello(hello), addresses }
  }

  function finish(opening: Opening | OpeningFault): void {
    socket.off('readable', take)
    done(opening, held!)
  }

  socket.on('readable', take)
}
