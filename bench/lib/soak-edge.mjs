/** The edge of the soak: two listeners, two groups of targets, a real access log. Tells what it holds when it is asked. */
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createH2c } from 'node:http2'
import { accessLog, attach, baseline, pipeline, proxy, upstream } from '@postern/core'

/** Starts it; `targets` are URLs by protocol. Gives its ports and a look at its inside. */
export async function startEdge(targets) {
  const faults = []
  const note = what => faults.push(String(what?.stack ?? what).slice(0, 500))
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  const group = (name, urls, protocol) =>
    upstream({
      name,
      // The sound one comes first, and has half of the load.
      targets: urls.map((url, at) => ({ url, weight: at === 0 ? 4 : 1 })),
      protocol,
      connections: 64,
      keepAlive: 2000,
      http2: { idle: 2000 },
      timeouts: { connect: 2000, head: 400, idle: 400, total: 10_000 },
      health: { passive: { consecutive: 5, backoff: 50, maxBackoff: 300, successes: 1 } },
    })
  const groups = [group('over-h1', targets.h1, 'h1'), group('over-h2c', targets.h2c, 'h2c')]
  const app = pipeline()
    .use(accessLog())
    .use(baseline())
    .route('/h1/*', r => r.handle(proxy(groups[0])))
    .route('/h2c/*', r => r.handle(proxy(groups[1])))
    .handle()
  const ports = {}
  const attached = []
  for (const [name, server] of Object.entries({ http: createServer(), h2c: createH2c() })) {
    attached.push(attach(server, app))
    await new Promise(resolve => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
    ports[name] = server.address().port
  }
  return {
    ports,
    /** Memory after a garbage collection, and what is open. */
    look() {
      globalThis.gc()
      globalThis.gc()
      const { rss, heapUsed, external } = process.memoryUsage()
      const stats = groups.flatMap(one => one.stats().targets)
      return {
        rss,
        heapUsed,
        external,
        clients: attached.reduce((sum, one) => sum + one.stats().connections.open, 0),
        upstreams: stats.reduce((sum, one) => sum + (one.connections?.open ?? 0), 0),
        inFlight: stats.reduce((sum, one) => sum + one.inFlight, 0),
        sockets: openSockets(),
        requests: stats.reduce((sum, one) => sum + one.requests, 0),
        faults: [...faults],
      }
    },
  }
}

/** Descriptors that are sockets; those that listen and the channel to the parent are among them. `null` where nobody tells. */
function openSockets() {
  try {
    return readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:')
      } catch {
        return false
      }
    }).length
  } catch {
    return null
  }
}
