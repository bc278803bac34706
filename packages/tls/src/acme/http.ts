/** HTTPS to an ACME server: one request, one bounded answer, no redirects. */
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { AcmeError } from './error.ts'

const MOST_BYTES = 262_144
const USER_AGENT = 'postern-acme/0.1'

/** An answer. */
export interface AcmeResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** How to reach a server. */
export interface Reach {
  /** Certificates to trust instead of the system's, PEM: for private CAs. */
  readonly ca?: string | undefined
  /** Time for one exchange, in ms. */
  readonly timeout: number
  readonly signal: AbortSignal
}

/** Sends one request. @throws AcmeError when no whole answer came. */
export function exchange(
  method: string,
  url: string,
  body: string | null,
  reach: Reach,
): Promise<AcmeResponse> {
  return new Promise((resolve, reject) => {
    const fail = (type: string, detail: string): void => {
      reject(new AcmeError(type, `${detail} (${hostOf(url)})`))
      sent.destroy()
    }
    if (!url.startsWith('https://')) throw new AcmeError('protocol', 'an address is not https:')
    const sent = request(
      url,
      {
        method,
        agent: false,
        signal: reach.signal,
        ...(reach.ca === undefined ? {} : { ca: reach.ca }),
        headers: {
          'User-Agent': USER_AGENT,
          ...(body === null
            ? {}
            : { 'Content-Type': 'application/jose+json', 'Content-Length': Buffer.byteLength(body) }),
        },
      },
      response => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MOST_BYTES) fail('protocol', 'the answer is too long')
          else chunks.push(chunk)
        })
        response.on('end', () => {
          clearTimeout(timer)
          const { statusCode = 0, headers } = response
          if (!response.complete) fail('connection', 'the answer was cut')
          else resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString('utf8') })
        })
        response.on('error', error => fail('connection', error.message))
      },
    )
    const timer = setTimeout(() => fail('timeout', `no answer in ${reach.timeout} ms`), reach.timeout).unref()
    sent.on('error', error => {
      clearTimeout(timer)
      reject(new AcmeError('connection', `${error.message} (${hostOf(url)})`))
    })
    sent.end(body ?? undefined)
  })
}

/** Milliseconds of a `Retry-After` (RFC 9110, 10.2.3), at most a day; 0 without one. */
export function retryAfterOf(headers: IncomingHttpHeaders, now: number): number {
  const text = headers['retry-after'] ?? ''
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(wait) ? Math.min(86_400_000, Math.max(0, wait)) : 0
}

function hostOf(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return 'no address'
  }
}
