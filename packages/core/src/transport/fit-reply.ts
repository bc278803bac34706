/** The last look at a reply before it is sent, the same for every transport. */
import { KeptBody } from '../body/kept.ts'
import { isSource } from '../body/transform.ts'
import { ProxyError } from '../errors.ts'
import { HeaderList, isFieldName, isFieldValue } from '../headers/list.ts'
import type { Reply, Sink } from '../pipeline/contract.ts'
import { bugReply } from '../reply.ts'
import { dropTunnel } from '../upgrade/drop.ts'

/** Takes what nobody wants. */
export const NOWHERE: Sink = { write: () => true, end() {}, fail() {} }

/** The failure of a client that left. */
export function gone(phase: 'reply-head' | 'reply-body'): ProxyError {
  return new ProxyError({ source: 'client', phase, code: 'client-closed' })
}

/** Lets go of a body that will not be sent: its source must know. */
export function discardBody(body: Reply['body'], error: ProxyError): void {
  if (body === null || typeof body !== 'object') return
  if (isSource(body)) body.start(NOWHERE).cancel(error)
  else if ('splice' in body) dropTunnel(body, error)
}

function isReply(reply: unknown): reply is Reply {
  if (typeof reply !== 'object' || reply === null) return false
  const { headers, body } = reply as Partial<Reply>
  if (!(headers instanceof HeaderList)) return false
  if (body === null || body instanceof Uint8Array) return true
  return typeof body === 'object' && ('start' in body || 'splice' in body)
}

/**
 * The reply as it may be sent: a final status (RFC 9110, 15: 200 to 599), no content where the status has none
 * (15.3.5, 15.3.6, 15.4.5), and a length that is that of the bytes (8.6). What nobody can send is a fault of the
 * program: 500. Tunnels pass as they are.
 */
export function fitReply(reply: Reply, method: string): Reply {
  if (!isReply(reply)) return bug('a handler or hook answered with something that is no reply')
  const { status, body, headers } = reply
  if (body !== null && 'splice' in body) return reply
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    discardBody(body, new ProxyError({ source: 'proxy', phase: 'reply-head', code: 'internal' }))
    return bug('the status of a reply is a whole number from 200 to 599')
  }
  if (status === 204) headers.delete('content-length')
  else if (status === 205) headers.set('Content-Length', '0')
  else if (status !== 304) {
    if (!(body instanceof Uint8Array || body instanceof KeptBody) || method === 'HEAD') return reply
    const told = headers.get('content-length')
    if (told === undefined || told === String(body.length)) return reply
    return bug('the Content-Length of a reply is not the length of its body')
  }
  if (body !== null) {
    discardBody(body, new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal' }))
    reply.body = null
  }
  return reply
}

function bug(message: string): Reply {
  return bugReply(new TypeError(message))
}

/** The length that a reply announces, `null` for none; `NaN`, which no body has, for one that is no length. */
export function announcedLength(headers: HeaderList): number | null {
  const told = headers.get('content-length')
  if (told === undefined) return null
  return /^\d{1,15}$/.test(told) ? Number(told) : Number.NaN
}

/** A body that is not as long as its head has said: it must never look whole (RFC 9112, 8; RFC 9113, 8.1.1). */
export function wrongLength(): ProxyError {
  const cause = new TypeError('a body is not as long as the Content-Length of its reply')
  return new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal', cause })
}

/**
 * Checks an interim response (RFC 9110, 15.2) before a byte of it is written.
 * @throws TypeError for 101, a status that is not of 100 to 199, an illegal field, or one that frames a body.
 */
export function assertInterim(status: number, headers: HeaderList): void {
  if (!Number.isInteger(status) || status < 100 || status > 199 || status === 101) {
    throw new TypeError('an interim response has a status from 100 to 199, and not 101')
  }
  for (const [name, value] of headers) {
    if (typeof name !== 'string' || !isFieldName(name)) throw new TypeError('illegal header name')
    if (typeof value !== 'string' || !isFieldValue(value)) {
      throw new TypeError(`illegal value for header ${name}`)
    }
    if (/^(?:content-length|transfer-encoding|connection|upgrade)$/i.test(name)) {
      throw new TypeError(`an interim response has no ${name}`)
    }
  }
}
