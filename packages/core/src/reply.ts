/** Small replies made by hand. */
import { ProxyError } from './errors.ts'
import { HeaderList } from './headers/list.ts'
import type { Reply } from './pipeline/contract.ts'

const encoder = new TextEncoder()

/** Extras of {@link reply}. */
export interface ReplyOptions {
  /** Fields to send. */
  headers?: HeaderList | Readonly<Record<string, string | number | readonly string[]>>
  /** Short machine-readable reason, for log and metrics. */
  reason?: string
}

/**
 * A reply with a text body (or none). `Content-Type` is `text/plain; charset=utf-8` unless given. A body for 204, 205 or
 * 304 is dropped: those have none (RFC 9110, 6.4.1).
 * @example reply(404, 'nothing here\n')
 */
export function reply(status: number, body?: string | Uint8Array | null, options: ReplyOptions = {}): Reply {
  const { headers: given } = options
  const headers = given instanceof HeaderList ? given : given ? HeaderList.from(given) : new HeaderList()
  // These have no content, whatever is given (RFC 9110, 15.3.5, 15.3.6, 15.4.5); 205 says so with a length.
  const bodiless = status === 204 || status === 205 || status === 304
  if (status === 205 && !headers.has('content-length')) headers.raw.push('Content-Length', '0')
  const bytes = bodiless ? null : typeof body === 'string' ? encoder.encode(body) : (body ?? null)
  if (bytes !== null) {
    if (typeof body === 'string' && !headers.has('content-type')) {
      headers.raw.push('Content-Type', 'text/plain; charset=utf-8')
    }
    if (!headers.has('content-length')) headers.raw.push('Content-Length', String(bytes.length))
  }
  const made: Reply = { status, headers, body: bytes }
  if (options.reason !== undefined) made.reason = options.reason
  return made
}

/**
 * The refusal of a gate: a short text, never stored by a cache, with a reason for log and metrics.
 * @example refuse(429, 'rate-limit', { 'Retry-After': '1' })
 */
export function refuse(
  status: number,
  reason: string,
  fields: Readonly<Record<string, string | number | readonly string[]>> = {},
): Reply {
  const headers = HeaderList.from(fields)
  if (!headers.has('cache-control')) headers.raw.push('Cache-Control', 'no-store')
  return reply(status, `${status} ${reason.replaceAll('-', ' ')}\n`, { headers, reason })
}

/** What some statuses have to say (RFC 9110, 10.2.1, 10.2.3). */
const FIELDS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  405: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
  503: { 'Retry-After': '1' },
}

/** The reply that stands for a failure. The body tells the code and nothing that only the operator should know. */
export function failureReply(error: ProxyError): Reply {
  const made = refuse(error.status, error.code, FIELDS_OF_STATUS[error.status])
  made.error = error
  return made
}

/** The reply for a fault of the program: a hook or handler threw. */
export function bugReply(cause: unknown): Reply {
  return failureReply(new ProxyError({ source: 'proxy', phase: 'handler', code: 'internal', cause }))
}
