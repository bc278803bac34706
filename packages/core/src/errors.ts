/** Failures as values: who failed, when, how, and whether another attempt is safe. One table maps them to a status. */

/** Who is to blame. */
export type FailureSource = 'client' | 'proxy' | 'upstream'

/** When it happened. */
export type FailurePhase =
  | 'connect'
  | 'head'
  | 'request-body'
  | 'reply-head'
  | 'reply-body'
  | 'tunnel'
  | 'handler'

/** Every failure that Postern reports, with the status that a client sees. 499 is logged and never sent. */
export const STATUS_OF_CODE = {
  'bad-request': 400,
  'bad-target': 400,
  'ambiguous-path': 400,
  'bad-authority': 400,
  'request-timeout': 408,
  'body-too-large': 413,
  'uri-too-long': 414,
  'method-not-allowed': 405,
  'expectation-failed': 417,
  misdirected: 421,
  refused: 403,
  'too-early': 425,
  'too-many-requests': 429,
  'head-too-large': 431,
  'client-closed': 499,
  'send-timeout': 499,
  internal: 500,
  'body-consumed': 500,
  'bad-forward': 500,
  'not-implemented': 501,
  'connect-refused': 502,
  'connect-failed': 502,
  'dns-failed': 502,
  'tls-failed': 502,
  'upstream-reset': 502,
  'stale-socket': 502,
  'bad-reply': 502,
  'no-upstream': 503,
  'queue-full': 503,
  draining: 503,
  'connect-timeout': 504,
  'head-timeout': 504,
  'idle-timeout': 504,
  'total-timeout': 504,
} as const

/** Name of a failure. */
export type FailureCode = keyof typeof STATUS_OF_CODE

/** What a {@link ProxyError} is made of. */
export interface FailureDetails {
  source: FailureSource
  phase: FailurePhase
  code: FailureCode
  /** True when nothing of the request can have been processed; default false. */
  retryable?: boolean
  /** True when the target told that it did not process what it was sent (GOAWAY, REFUSED_STREAM); default false. */
  unprocessed?: boolean
  cause?: unknown
  /** Default: the code in words. Never put a client's bytes or a secret here. */
  message?: string
}

/**
 * An expected failure. It carries no stack: it is made on the attack path, and its fields say more.
 * A reply that stands for one has it in `reply.error`; `cx.signal.reason` is one too.
 */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly source: FailureSource
  readonly phase: FailurePhase
  readonly code: FailureCode
  readonly retryable: boolean
  readonly unprocessed: boolean

  constructor(details: FailureDetails) {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(
      details.message ?? `${details.source} failed: ${details.code.replaceAll('-', ' ')}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    Error.stackTraceLimit = limit
    this.source = details.source
    this.phase = details.phase
    this.code = details.code
    this.retryable = details.retryable ?? false
    this.unprocessed = details.unprocessed ?? false
  }

  /** Status for the client; 499 means that there is nobody to answer. */
  get status(): number {
    return STATUS_OF_CODE[this.code]
  }
}

/** One fault of a configuration. */
export interface ConfigFault {
  /** Where: for example `route GET /users/:id` or `rateLimit.perSecond`. */
  place: string
  /** What is wrong there, with the value. */
  problem: string
  /** What to write instead. */
  fix: string
}

/** Thrown when an app is built from options that cannot work. Holds all faults, not the first one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(fault => `${fault.place}: ${fault.problem}. ${fault.fix}`).join('\n'))
    this.faults = faults
  }
}
