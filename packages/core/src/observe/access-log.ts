/** One structured line a request, by pino. */
import { destination, type Logger, pino } from 'pino'
import { callback, oneOf, readOptions, show, something, strings } from '../config/check.ts'
import { ConfigError, type ConfigFault, type ProxyError } from '../errors.ts'
import { isFieldName } from '../headers/list.ts'
import type { Context, Filter, Outcome, RequestHead } from '../pipeline/contract.ts'
import { printable, redactAddress, redactQuery, secretNames } from './redact.ts'

/** Longest path, query, host, header value, message and stack in a line, in characters. */
const MOST = {
  path: 1024,
  query: 1024,
  host: 255,
  header: 256,
  message: 256,
  stack: 2048,
  method: 32,
  waf: 1024,
}
/** Lines that wait for a slow reader of stdout, in bytes; what is beyond is dropped rather than held in memory. */
const MOST_WAITING = 16 << 20

const SECRET_HEADERS = new Set([
  ...['authorization', 'proxy-authorization', 'cookie', 'cookie2', 'set-cookie', 'x-api-key', 'x-auth-token'],
  ...['x-access-token', 'x-csrf-token', 'x-xsrf-token', 'x-amz-security-token', 'sec-websocket-protocol'],
])
const ADDRESS_HEADERS = new Set(['referer', 'referrer', 'origin', 'location', 'destination'])
const RULES = {
  logger: something(
    'a pino logger',
    logger => typeof (logger as Logger | null)?.isLevelEnabled === 'function',
    'Pass what pino() returns, or leave it out.',
  ),
  level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  redact: strings,
  headers: strings,
  skip: callback,
}

/** Options of {@link accessLog}. */
export interface AccessLogOptions {
  /** Where lines go; default a pino logger that writes to stdout without making requests wait for it. */
  logger?: Logger
  /** Lowest level that is written: `info` is every request, `warn` those of 400 and above, `error` failures. Default `info`. */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Query parameters whose values are replaced, in addition to the usual ones (token, password, code, sig …). */
  redact?: readonly string[]
  /** Request headers to log; default none. Those that carry credentials are refused. */
  headers?: readonly string[]
  /** Requests that leave no line; default none. */
  skip?: (cx: Context, outcome: Outcome) => boolean
}

/**
 * Logs each request when it is over, also one that was refused, failed or never had a readable head: 4xx and clients
 * that left as `warn`, 5xx and failures behind the edge as `error`, the rest as `info`. Use it first, so that the
 * order of filters reads as the order of events; it sees all requests wherever it stands.
 *
 * What a client sent appears only in JSON strings, as bounded printable ASCII. Cookies and credentials never do.
 * @example pipeline().use(accessLog({ skip: (cx, outcome) => outcome.filter === 'health' })).use(baseline())
 * @throws ConfigError for headers that carry credentials, and for names and levels that do not exist.
 */
export function accessLog(options: AccessLogOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<AccessLogOptions>('accessLog', options, RULES, faults)
  const { level, redact = [], headers = [], skip } = given
  checkNames(redact, headers, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const logger = loggerFor(given.logger, level)
  const secrets = secretNames(redact)
  const names = headers.map(name => name.toLowerCase())

  return {
    name: 'access-log',
    onDone: function logRequest(cx: Context, outcome: Outcome): void {
      const severity = severityOf(outcome)
      if (!logger.isLevelEnabled(severity) || skip?.(cx, outcome) === true) return
      logger[severity](lineOf(cx, outcome, secrets, names))
    },
  }
}

function severityOf({ status, error }: Outcome): 'info' | 'warn' | 'error' {
  if (status >= 500 || (error !== null && error.source !== 'client')) return 'error'
  return status >= 400 || error !== null ? 'warn' : 'info'
}

function lineOf(
  cx: Context,
  outcome: Outcome,
  secrets: ReadonlySet<string>,
  names: readonly string[],
): Record<string, unknown> {
  const { request } = cx
  const line: Record<string, unknown> = {}
  const state = cx.state as {
    requestId?: unknown
    trace?: { traceId?: unknown } | null
    otel?: { traceId?: unknown; spanId?: unknown; sampled?: unknown } | null
    waf?: { line?: unknown } | null
    cache?: { status?: unknown; reason?: unknown } | null
  }
  if (typeof state.requestId === 'string' && state.requestId !== '') line.id = printable(state.requestId, 128)
  if (typeof state.trace?.traceId === 'string') line.trace = state.trace.traceId
  if (typeof state.otel?.traceId === 'string' && state.otel.traceId !== '') {
    line.trace_id = state.otel.traceId
    line.span_id = state.otel.spanId
    line.trace_flags = state.otel.sampled === true ? '01' : '00'
  }
  line.client = request.clientAddress
  line.method = printable(request.method, MOST.method)
  line.host = printable(request.authority, MOST.host)
  line.path = pathOf(request, secrets)
  line.route = cx.route
  line.version = request.version
  if (request.upgrade !== null) line.upgrade = printable(request.upgrade, MOST.method)
  line.status = outcome.status
  line.in = outcome.bytesReceived
  line.out = outcome.bytesSent
  line.ms = Math.round(outcome.duration * 1000) / 1000
  if (outcome.upstream) line.upstream = outcome.upstream
  if (outcome.target) line.target = outcome.target
  if (outcome.attempts > 1) line.attempts = outcome.attempts
  if (typeof state.cache?.status === 'string') {
    line.cache = printable(state.cache.status, 32)
    if (typeof state.cache.reason === 'string' && state.cache.reason !== '')
      line.cacheReason = printable(state.cache.reason, 64)
  }
  if (outcome.filter !== null) line.filter = outcome.filter
  if (outcome.reason !== null) line.reason = outcome.reason
  if (typeof state.waf?.line === 'string' && state.waf.line !== '')
    line.waf = printable(state.waf.line, MOST.waf)
  if (outcome.error !== null) line.error = errorOf(outcome.error)
  if (names.length > 0) line.headers = headersOf(request, names, secrets)
  return line
}

function pathOf({ path, query }: RequestHead, secrets: ReadonlySet<string>): string {
  const place = printable(path, MOST.path)
  if (query === '') return place
  // Cut before it is searched, so that a long query costs no more than a short one; what is cut off is not shown.
  const cut = query.length > MOST.query ? `${query.slice(0, MOST.query)}…` : query
  return `${place}?${printable(redactQuery(cut, secrets), 2 * MOST.query)}`
}

function headersOf(
  request: RequestHead,
  names: readonly string[],
  secrets: ReadonlySet<string>,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = request.headers.joined(name)
    if (value === undefined) continue
    found[name] = printable(ADDRESS_HEADERS.has(name) ? redactAddress(value, secrets) : value, MOST.header)
  }
  return found
}

/** Who failed, when and how. A stack only for faults of the program: of those nothing else tells the place. */
function errorOf(error: ProxyError): Record<string, unknown> {
  const told: Record<string, unknown> = { source: error.source, phase: error.phase, code: error.code }
  const { cause } = error
  if (cause instanceof Error) {
    const { code } = cause as { code?: unknown }
    if (cause.message !== '') told.cause = printable(cause.message, MOST.message)
    if (typeof code === 'string') told.causeCode = printable(code, MOST.message)
    if (error.code === 'internal' && typeof cause.stack === 'string') told.stack = stackOf(cause.stack)
  } else if (typeof cause === 'string') told.cause = printable(cause, MOST.message)
  return told
}

function stackOf(stack: string): string[] {
  return stack
    .slice(0, MOST.stack)
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .map(line => printable(line.trim(), MOST.message))
}

function loggerFor(given: Logger | undefined, level: AccessLogOptions['level']): Logger {
  if (given) return level === undefined ? given : given.child({}, { level })
  return pino(
    { base: null, level: level ?? 'info' },
    destination({ dest: 1, sync: false, maxLength: MOST_WAITING }),
  )
}

function checkNames(redact: readonly string[], headers: readonly string[], faults: ConfigFault[]): void {
  const add = (option: string, problem: string, fix: string): void =>
    void faults.push({ place: `accessLog.${option}`, problem, fix })
  if (redact.includes('')) add('redact', '"" is no name', 'Leave it out.')
  for (const name of headers) {
    if (!isFieldName(name)) {
      add('headers', `${show(name)} is no field name`, 'Write names like User-Agent.')
    } else if (SECRET_HEADERS.has(name.toLowerCase())) {
      add('headers', `${name} carries credentials`, 'Leave it out: whoever reads the log could use them.')
    }
  }
}
