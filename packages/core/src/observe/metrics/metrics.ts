/** Metrics for Prometheus: a filter that counts, and a handler that tells. */
import { readOptions, something, type Table } from '../../config/check.ts'
import { ConfigError, type ConfigFault } from '../../errors.ts'
import type { Context, Filter, Handler, Outcome, Reply } from '../../pipeline/contract.ts'
import { refuse, reply } from '../../reply.ts'
import type { GroupEvent } from '../../upstream/events.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { CONTENT_TYPE, Exposition } from './exposition.ts'
import { RequestMetrics } from './requests.ts'
import { type MeasuredServer, ServerMetrics } from './servers.ts'
import { UpstreamMetrics } from './upstreams.ts'

/** Options of {@link metrics}. */
export interface MetricsOptions {
  /** Groups whose numbers are told; more by `track`. Default none. */
  upstreams?: readonly Upstream[]
  /** In front of every name; default `postern`. */
  prefix?: string
}

/** State of the filter. */
export interface MetricsState {
  /** The request is counted as under way. */
  metricsEntered: boolean
}

/** Made by {@link metrics}. */
export interface Metrics {
  /** Counts requests. Put it first; requests that an earlier filter refuses are counted, but never as under way. */
  readonly filter: Filter<object, MetricsState>
  /** Answers GET and HEAD with the text. It tells the inside of the system: keep it where clients can't reach it. */
  readonly handler: Handler
  /** Counts changes of a group: pass it as `onChange` of `upstream()`. */
  readonly onChange: (event: GroupEvent) => void
  /** Tells the numbers of a group too, until the function that it gives is called. */
  track(group: Upstream): () => void
  /** Tells connections, refusals and slow clients of what `attach()` gave, under a name, until the function that it gives is called. */
  trackServer(name: string, server: MeasuredServer): () => void
  /** The text, for another way of telling it. */
  text(): string
}

/**
 * Metrics of requests and upstreams in the text format of Prometheus (0.0.4). Labels are routes, upstreams, targets, filters, and
 * words from fixed lists; what a client sends never becomes one. See docs/observability.md.
 * @example
 * const m = metrics({ upstreams: [api] })
 * pipeline().use(m.filter).route('GET /metrics', r => r.use(ipAccess({ allow: ['10.0.0.0/8'] })).handle(m.handler))
 * @throws ConfigError for a prefix that is no name, and for what is no upstream.
 */
export function metrics(options: MetricsOptions = {}): Metrics {
  const faults: ConfigFault[] = []
  const { upstreams = [], prefix = 'postern' } = readOptions<MetricsOptions>(
    'metrics',
    options,
    RULES,
    faults,
  )
  if (faults.length > 0) throw new ConfigError(faults)
  const requests = new RequestMetrics(prefix)
  const groups = new UpstreamMetrics(prefix)
  const servers = new ServerMetrics(prefix)
  for (const group of upstreams) groups.track(group)
  const text = (): string => {
    const out = new Exposition()
    requests.write(out)
    groups.write(out)
    servers.write(out)
    return out.toString()
  }
  return {
    filter: {
      name: 'metrics',
      state: () => ({ metricsEntered: false }),
      onRequest(cx: Context<MetricsState>): undefined {
        cx.state.metricsEntered = true
        requests.inFlight++
      },
      onDone(cx: Context<MetricsState>, outcome: Outcome): void {
        if (cx.state.metricsEntered) requests.inFlight--
        requests.record(cx.route, cx.request.method, outcome)
      },
    },
    handler(cx: Context): Reply {
      const { method } = cx.request
      if (method !== 'GET' && method !== 'HEAD')
        return refuse(405, 'method-not-allowed', { Allow: 'GET, HEAD' })
      return reply(200, text(), { headers: { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' } })
    },
    onChange: event => groups.record(event),
    track(group) {
      groups.track(group)
      return () => groups.untrack(group)
    },
    trackServer: (name, server) => servers.track(name, server),
    text,
  }
}

const RULES: Table<MetricsOptions> = {
  upstreams: something(
    'an array of upstreams with names of their own',
    value =>
      Array.isArray(value) &&
      value.every(group => typeof group?.stats === 'function') &&
      new Set(value.map(group => group.name)).size === value.length,
  ),
  prefix: something(
    'the start of a metric name',
    value => typeof value === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(value),
    'Use letters, digits and _.',
  ),
}
