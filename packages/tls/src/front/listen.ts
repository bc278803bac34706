/** One port for everything: TLS with HTTP/2 and HTTP/1.1, a redirect for clients without, and connections that go elsewhere. */
import { createServer as createHttp1 } from 'node:http'
import { createServer as createH2c, createSecureServer } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'
import {
  type App,
  type Attached,
  attach,
  ConfigError,
  connectionCap,
  pipeline,
  type ServerStats,
  type Swappable,
} from '@postern/core'
import { markLooked } from '../server/raw.ts'
import { type CertificateStore, Store } from '../store/store.ts'
import { type ListenOptions, readListenOptions } from './options.ts'
import type { Opening } from './peek.ts'
import { Reception, type ReceptionCounts, reset } from './reception.ts'
import { redirectToHttps } from './redirect.ts'
import { relay } from './relay.ts'

/** Counts of connections. */
export interface FrontCounts extends ReceptionCounts {
  tls: number
  cleartext: number
  relayed: number
}

/** A running front. `swap()` changes the app behind TLS; that of `cleartext` stays. */
export interface Front extends Swappable {
  readonly server: Server
  /** Port that it listens on. */
  readonly port: number
  readonly counts: Readonly<FrontCounts>
  /** What `attach()` gave for TLS, HTTP/2 and HTTP/1.1. The front changes its app and drains it. */
  readonly secure: Omit<Attached, 'swap' | 'drain'>
  /** The same for clients without TLS, HTTP/1.1 and h2c; empty with `cleartext: 'refuse'`. */
  readonly cleartext: readonly Omit<Attached, 'drain'>[]
  /** As that of `attach()`, for the whole port. */
  stats(): ServerStats
  /** Stops accepting, finishes what runs within `timeout` ms (default 15 000), then closes the rest. */
  drain(timeout?: number): Promise<void>
}

/** What a timer can hold, in ms. */
const LONGEST = 2_147_483_647
/** Between two looks for connections that have become idle, in ms. */
const SWEEP = 100

/**
 * Listens on one port and looks at the first bytes of each connection. TLS is ended with the store's certificates and
 * served by the app; what is cleartext is redirected; server names of `relay` are passed on unopened. After the handshake
 * a connection is as quick as one of a plain server.
 * @example
 * const front = await listen(await certificates({ dir: './certs' }), app, { port: 443 })
 * @throws ConfigError for options that cannot work; rejects with the system's error when it cannot listen.
 */
export async function listen(store: CertificateStore, app: App, options: ListenOptions): Promise<Front> {
  if (!(store instanceof Store)) {
    throw new ConfigError([
      {
        place: 'listen(store)',
        problem: 'it is no certificate store',
        fix: 'Pass what certificates() gives.',
      },
    ])
  }
  const settings = readListenOptions(options)
  const { relays } = settings
  const counts: FrontCounts = {
    ...{ accepted: 0, tls: 0, cleartext: 0, relayed: 0 },
    ...{ denied: 0, malformed: 0, timedOut: 0 },
  }
  const secure = createSecureServer({ ...store.serverOptions(), allowHTTP1: true }) as unknown as Server
  const clear =
    settings.cleartext === 'redirect'
      ? pipeline().handle(redirectToHttps({ port: settings.redirectPort }))
      : settings.cleartext
  const inner = { secure, http1: createHttp1() as Server, h2c: createH2c() as unknown as Server }
  // Counted where they are accepted, before a byte is read.
  let running = app
  const { maxConnections, maxConnectionsPerClient, exemptClients = ['loopback', 'unix'] } = settings.attach
  const cap = connectionCap(
    {
      ...(maxConnections === undefined ? {} : { maxConnections }),
      ...(maxConnectionsPerClient === undefined ? {} : { maxConnectionsPerClient }),
      exemptClients: [...exemptClients, ...settings.reception.proxies],
    },
    address => running.trusts(address),
  )
  const behind = { ...settings.attach, maxConnections: 0, maxConnectionsPerClient: 0 }
  const encrypted: Attached = attach(secure, app, behind)
  markLooked(secure)
  store.protect(secure)
  const cleartext = clear === 'refuse' ? [] : [inner.http1, inner.h2c].map(one => attach(one, clear, behind))

  for (const one of Object.values(inner)) boundHeads(one, settings.headersTimeout, settings.requestTimeout)

  const sockets = new Set<Socket>()
  const reception = new Reception(settings.reception, counts, hand)
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    if (!cap.admit(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    reception.take(socket)
  })

  function hand(socket: Socket, opening: Opening, bytes: Buffer): void {
    if (opening.kind !== 'tls') {
      if (clear === 'refuse') return reset(socket)
      counts.cleartext++
      return serve(inner[opening.kind], socket, bytes)
    }
    const { hello } = opening
    const target = relays.find(hello.serverName, name => (store as Store).has(name))
    if (target) {
      counts.relayed++
      return relay(socket, bytes, target, settings.connectTimeout, settings.relayIdle)
    }
    counts.tls++
    serve(secure, socket, bytes)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: settings.port, host: settings.host }, () => {
      server.off('error', reject)
      resolve()
    })
  })

  let drained: Promise<void> | null = null
  return {
    server,
    counts,
    secure: encrypted,
    cleartext,
    get port() {
      const address = server.address()
      return typeof address === 'object' && address ? address.port : 0
    },
    stats() {
      const all = [encrypted, ...cleartext].map(one => one.stats())
      const sum = (read: (stats: ServerStats) => number): number =>
        all.reduce((total, one) => total + read(one), 0)
      return {
        connections: { ...cap.counts },
        slow: {
          heads: sum(one => one.slow.heads),
          bodies: sum(one => one.slow.bodies),
          handshakes: sum(one => one.slow.handshakes),
        },
        tunnels: sum(one => one.tunnels),
      }
    },
    async swap(next, swapOptions) {
      const swapped = await encrypted.swap(next, swapOptions)
      running = next
      return swapped
    },
    drain(timeout = 15_000) {
      if (!(timeout >= 0)) {
        const problem = `${String(timeout)} is no time`
        throw new ConfigError([{ place: 'drain(timeout)', problem, fix: 'Write milliseconds, from 0 on.' }])
      }
      drained ??= new Promise(resolve => {
        // The inner servers never listened, so they know no end; they only say goodbye to what runs.
        for (const one of [encrypted, ...cleartext]) void one.drain(timeout)
        const idle = [inner.http1, secure] as (Server & { closeIdleConnections?(): void })[]
        const sweep = setInterval(() => {
          for (const one of idle) one.closeIdleConnections?.()
        }, SWEEP)
        const last = setTimeout(
          () => {
            for (const socket of sockets) socket.destroy()
          },
          Math.min(timeout, LONGEST),
        )
        server.close(() => {
          clearInterval(sweep)
          clearTimeout(last)
          resolve()
        })
        reception.close()
      })
      return drained
    },
  }
}

/** Puts the bytes back and lets a server take the connection, as if it had just come. */
function serve(server: Server, socket: Socket, bytes: Buffer): void {
  // As the inner server would have made it: TLS and HTTP end their side when the other one does.
  socket.allowHalfOpen = (server as { allowHalfOpen?: boolean }).allowHalfOpen === true
  socket.unshift(bytes)
  server.emit('connection', socket)
}

/**
 * Node looks for heads and requests that take too long only on servers that listen, and begins with that event. These
 * never do: without it a client could send its head drop by drop for ever.
 */
function boundHeads(server: Server, headersTimeout: number, requestTimeout: number): void {
  const connectionsCheckingInterval = Math.max(100, Math.min(30_000, headersTimeout / 2))
  Object.assign(server, { headersTimeout, requestTimeout, connectionsCheckingInterval })
  server.emit('listening')
}
