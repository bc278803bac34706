/** What servers say of their connections, read when it is asked for. */
import type { ServerStats } from '../../transport/clients/guard.ts'
import type { Exposition } from './exposition.ts'

/** What `attach()` gives. */
export interface MeasuredServer {
  stats(): ServerStats
}

/** Numbers of servers, by the names that the host gave them. */
export class ServerMetrics {
  readonly #prefix: string
  readonly #servers = new Map<string, MeasuredServer>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Tells this server's numbers too; one of the same name is replaced. */
  track(name: string, server: MeasuredServer): () => void {
    this.#servers.set(name, server)
    return () => {
      if (this.#servers.get(name) === server) this.#servers.delete(name)
    }
  }

  write(out: Exposition): void {
    if (this.#servers.size === 0) return
    const all = Array.from(this.#servers, ([name, server]) => ({ name, stats: server.stats() }))
    const family = (
      name: string,
      type: 'counter' | 'gauge',
      help: string,
      samples: (stats: ServerStats) => readonly (readonly [label: string, value: string, count: number])[],
    ): void => {
      const full = `${this.#prefix}_server_${name}`
      out.family(full, type, help)
      for (const one of all) {
        for (const [label, value, count] of samples(one.stats)) {
          const more = label === '' ? [] : [[label, value] as const]
          out.sample(full, [['server', one.name], ...more], count)
        }
      }
    }
    family('connections', 'gauge', 'Open connections of clients.', ({ connections }) => [
      ['', '', connections.open],
    ])
    family('tunnels', 'gauge', 'Open WebSockets and other tunnels.', ({ tunnels }) => [['', '', tunnels]])
    family(
      'connections_refused_total',
      'counter',
      'Connections that were reset as they came, by the cap that they met.',
      ({ connections }) => [
        ['cap', 'all', connections.refusedTotal],
        ['cap', 'client', connections.refusedPerClient],
      ],
    )
    family('slow_clients_total', 'counter', 'Clients that were too slow, by what they sent.', ({ slow }) => [
      ['part', 'handshake', slow.handshakes],
      ['part', 'head', slow.heads],
      ['part', 'body', slow.bodies],
    ])
  }
}
