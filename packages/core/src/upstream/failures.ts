/** What went wrong on the way to an upstream, from the codes of Node, OpenSSL and undici. */
import { type FailureCode, type FailurePhase, ProxyError } from '../errors.ts'

const BY_CODE: Readonly<Record<string, FailureCode>> = {
  ECONNREFUSED: 'connect-refused',
  ENOENT: 'connect-refused', // a Unix socket that is not there
  ENOTFOUND: 'dns-failed',
  EAI_AGAIN: 'dns-failed',
  EAI_FAIL: 'dns-failed',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'head-timeout',
  UND_ERR_BODY_TIMEOUT: 'idle-timeout',
  UND_ERR_HEADERS_OVERFLOW: 'bad-reply',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad-reply',
  UND_ERR_INVALID_ARG: 'bad-forward',
  UND_ERR_NOT_SUPPORTED: 'bad-forward',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'bad-forward',
}

const TLS = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|ERR_OSSL|HOSTNAME_MISMATCH)/

/** The failure that an error of a connector stands for. `sent` tells whether the request may have been written. */
export function upstreamFailure(error: unknown, sent: boolean, phase: FailurePhase): ProxyError {
  if (error instanceof ProxyError) return error
  return new ProxyError({
    source: 'upstream',
    phase: sent ? phase : 'connect',
    code: codeOf(error, sent),
    retryable: !sent,
    cause: error,
  })
}

/**
 * A kept connection was closed before a byte of the answer came. Most likely the server had closed it for idleness, but the
 * request may have been seen: only an idempotent one may be sent again (RFC 9110, 9.2.2).
 */
export function staleSocket(cause: unknown): ProxyError {
  return new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'stale-socket', cause })
}

function codeOf(error: unknown, sent: boolean): FailureCode {
  const cause = innermost(error)
  const code = textOf(cause, 'code')
  const known = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined
  if (known) return known
  if (TLS.test(code)) return 'tls-failed'
  if (code.startsWith('HPE_') || textOf(cause, 'name') === 'HTTPParserError') return 'bad-reply'
  if (sent) return 'upstream-reset'
  return code === 'ETIMEDOUT' ? 'connect-timeout' : 'connect-failed'
}

/** Happy Eyeballs reports one error an address: the last that says something, or the last. */
function innermost(error: unknown): unknown {
  if (!(error instanceof AggregateError) || error.errors.length === 0) return error
  const known = error.errors.filter(one => Object.hasOwn(BY_CODE, textOf(one, 'code')))
  return known.at(-1) ?? error.errors.at(-1)
}

function textOf(error: unknown, key: 'code' | 'name'): string {
  const value = (error as Record<string, unknown> | null)?.[key]
  return typeof value === 'string' ? value : ''
}
