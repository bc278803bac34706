/** Answers what load balancers and orchestrators ask, before everything else. */
import { callback, readOptions, show, unchecked } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { readTarget } from '../headers/target.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse, reply } from '../reply.ts'

/** Options of {@link health}. */
export interface HealthOptions {
  /** Path that says whether the process runs; default `/healthz`. `false` leaves the path to the origin. */
  live?: string | false
  /** Path that says whether it takes requests; default `/readyz`. `false` leaves the path to the origin. */
  ready?: string | false
  /** What readiness depends on beside draining; default: nothing. Called for each question, so it must be quick. */
  isReady?: () => boolean
}

/**
 * Answers GET and HEAD of `/healthz` with 200, and of `/readyz` with 200 or 503: the latter while the server drains
 * or `isReady` says no, so that a load balancer sends no more. Neither is stored by caches.
 *
 * Use it first in the pipeline: a probe calls by address and knows no host name, and a full rate limit must not look
 * like a dead process. The two paths then belong to the edge, not to the origin.
 * @example pipeline().use(health({ isReady: () => upstreamIsUp }))
 * @throws ConfigError for a path that is not canonical, or the same path twice.
 */
export function health(options: HealthOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const table = { live: unchecked, ready: unchecked, isReady: callback }
  const given = readOptions<HealthOptions>('health', options, table, faults)
  const { live = '/healthz', ready = '/readyz', isReady } = given
  checkPaths(live, ready, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'health',
    onRequest: function answerProbe(cx: Context): Reply | undefined {
      const { path, method } = cx.request
      if (path !== live && path !== ready) return undefined
      if (method !== 'GET' && method !== 'HEAD')
        return refuse(405, 'method-not-allowed', { Allow: 'GET, HEAD' })
      if (path === live) return ok()
      if (cx.draining) return refuse(503, 'draining')
      return isReady === undefined || isReady() === true ? ok() : refuse(503, 'not-ready')
    },
  }
}

function ok(): Reply {
  return reply(200, 'ok', { headers: { 'Cache-Control': 'no-store' } })
}

function checkPaths(live: string | false, ready: string | false, faults: ConfigFault[]): void {
  for (const [place, path] of Object.entries({ 'health.live': live, 'health.ready': ready })) {
    if (path === false) continue
    const target = typeof path === 'string' && path.startsWith('/') ? readTarget('GET', path) : 'bad-target'
    if (typeof target === 'string' || target.path !== path) {
      faults.push({
        place,
        problem: `${show(path)} is no canonical path`,
        fix: 'Write a path like /healthz.',
      })
    }
  }
  if (live !== false && live === ready) {
    faults.push({
      place: 'health.ready',
      problem: `${ready} answers health.live too`,
      fix: 'Choose another path.',
    })
  }
}
