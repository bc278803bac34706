/** Passes whole connections on by server name: the TLS inside is between the client and the target. */
import { connect, type Socket } from 'node:net'
import type { ConfigFault } from '@postern/core'
import { shown } from '../config.ts'

/** Where a connection goes. */
export interface RelayTarget {
  /** Host name or address. */
  host: string
  port: number
}

/** Targets by server name: exact, `*.example.com` for one label, `*` for names that the store has no certificate for. */
export type RelayTable = Readonly<Record<string, RelayTarget>>

/** Looks up targets. */
export class Relays {
  readonly #exact = new Map<string, RelayTarget>()
  readonly #wild = new Map<string, RelayTarget>()
  readonly #unknown: RelayTarget | null
  readonly size: number

  constructor(table: RelayTable, place: string, faults: ConfigFault[]) {
    let unknown: RelayTarget | null = null
    for (const [key, target] of Object.entries(table)) {
      const name = key.toLowerCase()
      if (typeof target?.host !== 'string' || target.host === '' || !isPort(target.port)) {
        faults.push({
          place: `${place}.${key}`,
          problem: 'it is no target',
          fix: "Write { host: '10.0.0.5', port: 443 }.",
        })
      } else if (name === '*') unknown = target
      else if (!/^(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name)) {
        faults.push({
          place,
          problem: `${shown(key)} is no server name`,
          fix: "Write 'a.example', '*.a.example' or '*'.",
        })
      } else if (name.startsWith('*.')) this.#wild.set(name.slice(1), target)
      else this.#exact.set(name, target)
    }
    this.#unknown = unknown
    this.size = Object.keys(table).length
  }

  /** The target for a name, `null` to end TLS here. `isOwn`: the store has a certificate for it. */
  find(name: string | null, isOwn: (name: string) => boolean): RelayTarget | null {
    if (this.size === 0 || name === null) return null
    const exact = this.#exact.get(name)
    if (exact) return exact
    const dot = name.indexOf('.')
    const wild = dot > 0 ? this.#wild.get(name.slice(dot)) : undefined
    return wild ?? (this.#unknown && !isOwn(name) ? this.#unknown : null)
  }
}

/** Joins a client with its target. `first` has been read of it already. Both directions end when either side breaks. */
export function relay(
  client: Socket,
  first: Buffer,
  target: RelayTarget,
  connectTimeout: number,
  idleTimeout: number,
): void {
  const upstream = connect({ host: target.host, port: target.port, noDelay: true, allowHalfOpen: true })
  upstream.setTimeout(connectTimeout, () => upstream.destroy())
  upstream.once('connect', () => {
    upstream.setTimeout(idleTimeout)
    upstream.write(first)
    client.pipe(upstream)
    upstream.pipe(client)
  })
  const both = (): void => {
    client.destroy()
    upstream.destroy()
  }
  client.setTimeout(idleTimeout, both)
  for (const socket of [client, upstream]) {
    socket.on('error', both)
    // After a clean end the other side still has bytes to send; pipe() has told it to end.
    socket.on('close', () => {
      if (!socket.readableEnded) both()
    })
  }
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) > 0 && (port as number) < 65_536
}
