/** What requests leave behind: counts and durations, by route and by upstream. */
import type { Outcome } from '../../pipeline/contract.ts'
import type { Exposition } from './exposition.ts'
import { Histogram, SECONDS } from './histogram.ts'
import { LabelCounter, OTHER } from './label-counter.ts'

/** Methods with a name of their own; a client may invent others. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']
/** Combinations of labels in a family. */
const MOST = 1000

/** Counts of one route, or of one upstream. */
interface Series {
  /** By method and status. */
  readonly counts: Map<number, number>
  readonly seconds: Histogram
}

/** Numbers of all requests. */
export class RequestMetrics {
  inFlight = 0
  readonly #prefix: string
  readonly #routes = new Map<string, Series>()
  readonly #upstreams = new Map<string, Series>()
  readonly #refusals = new LabelCounter(2, MOST)
  readonly #failures = new LabelCounter(3, MOST)
  readonly #retries = new LabelCounter(1, MOST)
  #received = 0
  #sent = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  record(route: string, method: string, outcome: Outcome): void {
    const { status, filter, reason, error, upstream, attempts } = outcome
    const code = (METHODS.indexOf(method) + 1) * 1000 + status
    count(seriesOf(this.#routes, route), code, outcome.duration)
    if (upstream !== null) {
      count(seriesOf(this.#upstreams, upstream), code, outcome.duration)
      if (attempts > 1) this.#retries.add([upstream], attempts - 1)
    }
    if (filter !== null && error === null) this.#refusals.add([filter, reason ?? ''])
    if (error !== null) this.#failures.add([error.source, error.phase, error.code])
    this.#received += outcome.bytesReceived
    this.#sent += outcome.bytesSent
  }

  write(out: Exposition): void {
    const name = (rest: string): string => `${this.#prefix}_${rest}`
    writeCounts(out, name('requests_total'), 'Requests that are over.', 'route', this.#routes)
    writeSeconds(
      out,
      name('request_duration_seconds'),
      'From the head of a request to its end.',
      'route',
      this.#routes,
    )
    out.family(name('requests_in_flight'), 'gauge', 'Requests under way.')
    out.sample(name('requests_in_flight'), [], this.inFlight)
    out.family(name('request_body_bytes_total'), 'counter', 'Bytes of request bodies.')
    out.sample(name('request_body_bytes_total'), [], this.#received)
    out.family(name('reply_body_bytes_total'), 'counter', 'Bytes of reply bodies.')
    out.sample(name('reply_body_bytes_total'), [], this.#sent)
    out.family(
      name('answered_by_filter_total'),
      'counter',
      'Requests that a filter answered or refused, by its reason.',
    )
    for (const { values, count } of this.#refusals) {
      out.sample(
        name('answered_by_filter_total'),
        [
          ['filter', values[0]!],
          ['reason', values[1]!],
        ],
        count,
      )
    }
    out.family(name('failures_total'), 'counter', 'Requests that failed: by whose fault, when, and how.')
    for (const { values, count } of this.#failures) {
      out.sample(
        name('failures_total'),
        [
          ['source', values[0]!],
          ['phase', values[1]!],
          ['code', values[2]!],
        ],
        count,
      )
    }
    writeCounts(
      out,
      name('upstream_exchanges_total'),
      'Requests that were forwarded and are over, attempts counted as one.',
      'upstream',
      this.#upstreams,
    )
    writeSeconds(
      out,
      name('upstream_exchange_duration_seconds'),
      'From the head of a forwarded request to its end.',
      'upstream',
      this.#upstreams,
    )
    out.family(name('upstream_retries_total'), 'counter', 'Attempts beyond the first.')
    for (const { values, count } of this.#retries) {
      out.sample(name('upstream_retries_total'), [['upstream', values[0]!]], count)
    }
  }
}

function seriesOf(all: Map<string, Series>, name: string): Series {
  let series = all.get(name)
  if (series === undefined) {
    // Routes and upstreams are what the program has, but nothing says that it has few.
    if (all.size >= MOST && name !== OTHER) return seriesOf(all, OTHER)
    series = { counts: new Map(), seconds: new Histogram(SECONDS) }
    all.set(name, series)
  }
  return series
}

function count(series: Series, code: number, milliseconds: number): void {
  series.counts.set(code, (series.counts.get(code) ?? 0) + 1)
  series.seconds.observe(milliseconds / 1000)
}

function writeCounts(
  out: Exposition,
  name: string,
  help: string,
  label: string,
  all: Map<string, Series>,
): void {
  out.family(name, 'counter', help)
  for (const [value, { counts }] of all) {
    for (const [code, times] of counts) {
      const method = METHODS[Math.floor(code / 1000) - 1] ?? OTHER
      out.sample(
        name,
        [
          [label, value],
          ['method', method],
          ['status', String(code % 1000)],
        ],
        times,
      )
    }
  }
}

function writeSeconds(
  out: Exposition,
  name: string,
  help: string,
  label: string,
  all: Map<string, Series>,
): void {
  out.family(name, 'histogram', help)
  for (const [value, { seconds }] of all) {
    out.histogram(name, [[label, value]], seconds.bounds, seconds.counts, seconds.sum)
  }
}
