/** What is known of a raw socket before TLS starts on it, kept beside it for as long as it lives. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { HelloFacts } from '../hello/facts.ts'

/** Addresses that a PROXY protocol header told. */
export interface ProxiedAddresses {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress: string
  readonly localPort: number
}

/** Facts of a raw socket. */
export interface RawFacts {
  hello: HelloFacts | null
  addresses: ProxiedAddresses | null
}

const known = new WeakMap<object, RawFacts>()

export function setRawFacts(socket: Socket, facts: RawFacts): void {
  known.set(socket, facts)
  if (facts.addresses) tellAddresses(socket, facts.addresses)
}

/** Facts of the socket under a TLS socket; `null` when nobody looked at it. */
export function rawFactsOf(socket: TLSSocket): RawFacts | null {
  // Private, but there in all versions; without it the facts are missing and nothing else.
  const { _parent } = socket as TLSSocket & { _parent?: Socket }
  return (_parent && known.get(_parent)) ?? null
}

const looked = new WeakSet<object>()

/** Marks a server whose connections all have their raw facts before TLS starts. */
export function markLooked(server: object): void {
  looked.add(server)
}

/** True for a server of which every ClientHello is known. */
export function isLooked(server: object): boolean {
  return looked.has(server)
}

/** From now on the socket says what the proxy in front said. */
export function tellAddresses(socket: object, addresses: ProxiedAddresses): void {
  for (const name of ['remoteAddress', 'remotePort', 'localAddress', 'localPort'] as const) {
    Object.defineProperty(socket, name, { value: addresses[name], configurable: true })
  }
  const remoteFamily = addresses.remoteAddress.includes(':') ? 'IPv6' : 'IPv4'
  Object.defineProperty(socket, 'remoteFamily', { value: remoteFamily, configurable: true })
}

/** A server name in one spelling: lower case, without the dot of the root. `''` for none. */
export function plainName(servername: unknown): string {
  if (typeof servername !== 'string') return ''
  const lower = servername.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}
