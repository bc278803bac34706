/** The store's numbers as text for Prometheus (exposition format 0.0.4). */
import { ConfigError } from '@postern/core'
import { shown } from '../config.ts'
import type { FrontCounts } from '../front/listen.ts'
import type { CertificateStore } from './store.ts'

/** Options of {@link tlsMetrics}. */
export interface TlsMetricsOptions {
  /** Connections of a front are told too. */
  front?: { readonly counts: Readonly<FrontCounts> }
  /** In front of every name; default `postern`. */
  prefix?: string
}

const HANDSHAKES = {
  handshakes: 'Handshakes that ended well.',
  resumed: 'Handshakes that a session ticket made short.',
  identified: 'Handshakes with a client certificate that was accepted.',
  refused: 'Connections closed because of a client certificate, or its absence.',
  failed: 'Handshakes that failed.',
  timedOut: 'Handshakes that took too long.',
} as const

/**
 * Counts of handshakes, what is wrong, and when certificates end. Labels are the first names of your own certificates; what a
 * client sends never becomes one.
 * @example
 * const m = metrics()
 * pipeline().use(m.filter).route('GET /metrics', r => r.handle(() => reply(200, m.text() + tlsMetrics(tls))))
 * @throws ConfigError for a prefix that is no name.
 */
export function tlsMetrics(store: CertificateStore, options: TlsMetricsOptions = {}): string {
  const { front, prefix = 'postern' } = options
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(prefix)) {
    const problem = `${shown(prefix)} is no start of a metric name`
    throw new ConfigError([{ place: 'tlsMetrics.prefix', problem, fix: 'Use letters, digits and _.' }])
  }
  const lines: string[] = []
  const add = (name: string, type: 'counter' | 'gauge', help: string, samples: readonly string[]): void => {
    const whole = `${prefix}_tls_${name}`
    lines.push(`# HELP ${whole} ${help}`, `# TYPE ${whole} ${type}`, ...samples.map(sample => whole + sample))
  }
  for (const [key, help] of Object.entries(HANDSHAKES)) {
    add(`${snake(key)}_total`, 'counter', help, [` ${store.counts[key as keyof typeof HANDSHAKES]}`])
  }
  add('problems', 'gauge', 'Things that are wrong now.', [` ${store.problems().length}`])
  // Of several certificates for one name the last one counts, so that no label is there twice.
  const ends = new Map<string, number>()
  for (const { names, fingerprint256, validTo } of store.certificates) {
    const name = names[0] ?? fingerprint256
    ends.set(name, Math.max(validTo, ends.get(name) ?? 0))
  }
  const samples = [...ends].map(([name, end]) => `{name="${name}"} ${Math.floor(end / 1000)}`)
  add('certificate_end_seconds', 'gauge', 'When the certificate ends, in seconds since 1970.', samples)
  if (front) {
    const counts = Object.entries(front.counts).map(([key, count]) => `{what="${snake(key)}"} ${count}`)
    add('connections_total', 'counter', 'Connections of the front, by what became of them.', counts)
  }
  return `${lines.join('\n')}\n`
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
