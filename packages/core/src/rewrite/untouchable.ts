/** Replies whose content stays as it is, what a conditional request may be told of a changed one, and how an edit is refused. */
import { weakenTag } from '../body/changed.ts'
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { hasContent } from '../pipeline/answer.ts'
import type { Context, ReplyHead } from '../pipeline/contract.ts'

const NO_TRANSFORM = /(?:^|,)\s*no-transform\s*(?:,|$)/i

/** True where the sender forbids changes (RFC 9111, 5.2.1.6 and 5.2.2.6). */
export function forbidsChange(headers: HeaderList): boolean {
  const value = headers.joined('cache-control')
  return value !== undefined && NO_TRANSFORM.test(value)
}

/** True for a reply with content of its own that is whole: no part of one, no word about a stored one, no tunnel. */
export function hasWholeContent({ status, headers }: ReplyHead): boolean {
  return status >= 200 && hasContent(status) && status !== 206 && !headers.has('content-range')
}

/**
 * A 304 about a body that was sent changed names the tag that was sent with it: the weak one, where the client asked with that
 * (RFC 9110, 15.4.5). A cache that has stored the weak one could not match it with the strong one (RFC 9111, 4.3.4).
 * True when it did.
 */
export function answerWeakly(cx: Context, head: ReplyHead): boolean {
  if (head.status !== 304) return false
  const tag = head.headers.get('etag')
  if (tag === undefined || !tag.startsWith('"')) return false
  const asked = cx.request.headers.joined('if-none-match')
  if (asked === undefined || !asked.includes(`W/${tag}`)) return false
  weakenTag(head.headers)
  return true
}

/** Adds a name to `Vary`, once (RFC 9110, 12.5.5). */
export function varyOn(headers: HeaderList, name: string): void {
  const value = headers.joined('vary')
  const lower = name.toLowerCase()
  const named = value?.split(',').map(one => one.trim().toLowerCase()) ?? []
  if (named.includes('*') || named.includes(lower)) return
  headers.set('Vary', value === undefined || value.trim() === '' ? name : `${value}, ${name}`)
}

/** A client that gets a part would get it unedited (RFC 9110, 14.2: a server may ignore the field). */
export function wantWhole(cx: Context): undefined {
  cx.request.headers.delete('range')
}

/** The answer where an edit must not be got round. */
export function uneditable(what: string): ProxyError {
  const cause = new TypeError(`${what} cannot be edited`)
  return new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply', cause })
}

/** The answer while too many bodies are in work. */
export function busy(): ProxyError {
  return new ProxyError({ source: 'proxy', phase: 'reply-head', code: 'queue-full' })
}
