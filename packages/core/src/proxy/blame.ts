/** Which failures are a target's own. */
import type { FailureCode, ProxyError } from '../errors.ts'

const ITS_OWN: ReadonlySet<FailureCode> = new Set([
  'connect-refused',
  'connect-failed',
  'connect-timeout',
  'dns-failed',
  'tls-failed',
  'upstream-reset',
  'bad-reply',
  'head-timeout',
  'idle-timeout',
])

/**
 * True when the failure tells against the target. What a client caused never does; a stale connection is the normal end of an
 * idle one; and the total time of a body may have been the client's, who reads as slowly as it likes.
 */
export function blames(error: ProxyError): boolean {
  if (error.source !== 'upstream') return false
  return ITS_OWN.has(error.code) || (error.code === 'total-timeout' && error.phase === 'reply-head')
}
