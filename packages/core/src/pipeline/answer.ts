/** What hooks and handlers may give back, told apart at run time: whoever writes JavaScript may have given anything. */
import type { Own } from '../body/guard.ts'
import { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { Reply } from './contract.ts'

/** True for a reply that a transport can send. A few property reads. */
export function isReply(value: unknown): value is Reply {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers, body, error } = value as Partial<Reply>
  if (!(headers instanceof HeaderList) || (error !== undefined && !(error instanceof ProxyError)))
    return false
  if (body === null || body instanceof Uint8Array) return isFinal(status)
  if (typeof body !== 'object') return false
  // Only a tunnel switches protocols.
  if ('splice' in body) return typeof body.splice === 'function' && (isFinal(status) || status === 101)
  return 'start' in body && typeof body.start === 'function' && isFinal(status)
}

function isFinal(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 999
}

/** True for a final status whose replies may have content (RFC 9110, 15.3.5, 15.3.6, 15.4.5). */
export function hasContent(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** A reply that hooks may edit: a program may give one object again and again, so what they edit is a copy of it. */
export function editable(reply: Reply): Reply {
  const { body } = reply
  // The proxy makes its replies anew.
  if (body !== null && (body as Partial<Own>).keepsTheRules === true) return reply
  const made = new EditableReply(reply.status, new HeaderList(reply.headers.raw.slice()), body)
  made.prepared = reply.prepared
  made.error = reply.error
  made.reason = reply.reason
  made.marks = (reply as Partial<EditableReply>).marks
  return made
}

/**
 * A reply that hooks may edit. All that is ever written to one is there from the beginning: an object literal that gets one
 * property more costs as much as all filters together.
 */
export class EditableReply implements Reply {
  status: number
  headers: HeaderList
  body: Reply['body']
  prepared: Reply['prepared'] = undefined
  error: ProxyError | undefined = undefined
  reason: string | undefined = undefined
  /** What filters of this package leave for one another. */
  marks: number | undefined = undefined

  constructor(status: number, headers: HeaderList, body: Reply['body']) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** True for what `await` waits for. A promise of another realm, or of a library, is no `Promise` of this one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** The error for a value that is no reply: it names who gave it, and what is wrong. */
export function noReply(who: string, value: unknown): TypeError {
  return new TypeError(`${who} gave ${describe(value)} where a reply is due`)
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  if (Array.isArray(value)) return 'an array'
  const { status, headers, body, error } = value as Record<string, unknown>
  if (!(headers instanceof HeaderList)) return 'an object whose headers are no HeaderList'
  if (!isFinal(status)) return 'an object whose status is no whole number from 200 to 999'
  if (error !== undefined && !(error instanceof ProxyError)) return 'an object whose error is no ProxyError'
  return `an object whose body (${body === null ? 'null' : typeof body}) is neither bytes, source, tunnel nor null`
}
