import { expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import { upstreamFailure } from './failures.ts'

const coded = (code: string, name = 'Error'): Error => Object.assign(new Error(code), { code, name })

test.each([
  [coded('ECONNREFUSED'), 'connect-refused', 'connect-refused'],
  [coded('ENOENT'), 'connect-refused', 'connect-refused'],
  [coded('ENOTFOUND'), 'dns-failed', 'dns-failed'],
  [coded('EAI_AGAIN'), 'dns-failed', 'dns-failed'],
  [coded('UND_ERR_CONNECT_TIMEOUT'), 'connect-timeout', 'connect-timeout'],
  [coded('ETIMEDOUT'), 'connect-timeout', 'upstream-reset'],
  [coded('ECONNRESET'), 'connect-failed', 'upstream-reset'],
  [coded('EHOSTUNREACH'), 'connect-failed', 'upstream-reset'],
  [coded('UND_ERR_SOCKET'), 'connect-failed', 'upstream-reset'],
  [coded('UND_ERR_HEADERS_TIMEOUT'), 'head-timeout', 'head-timeout'],
  [coded('UND_ERR_BODY_TIMEOUT'), 'idle-timeout', 'idle-timeout'],
  [coded('HPE_INVALID_CONSTANT', 'HTTPParserError'), 'bad-reply', 'bad-reply'],
  [coded('UND_ERR_HEADERS_OVERFLOW'), 'bad-reply', 'bad-reply'],
  [coded('CERT_HAS_EXPIRED'), 'tls-failed', 'tls-failed'],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls-failed', 'tls-failed'],
  [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls-failed', 'tls-failed'],
  [coded('EPROTO'), 'tls-failed', 'tls-failed'],
  [coded('constructor'), 'connect-failed', 'upstream-reset'],
  [new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')]), 'connect-refused', 'connect-refused'],
  [new AggregateError([coded('ECONNREFUSED'), coded('EADDRNOTAVAIL')]), 'connect-refused', 'connect-refused'],
  [new AggregateError([]), 'connect-failed', 'upstream-reset'],
  [new Error('no code'), 'connect-failed', 'upstream-reset'],
  [{ code: 7 }, 'connect-failed', 'upstream-reset'],
  ['text', 'connect-failed', 'upstream-reset'],
  [null, 'connect-failed', 'upstream-reset'],
  [undefined, 'connect-failed', 'upstream-reset'],
])('%s is %s before anything was sent, and %s after', (error, before, after) => {
  expect(upstreamFailure(error, false, 'reply-head')).toMatchObject({
    source: 'upstream',
    phase: 'connect',
    code: before,
    retryable: true,
  })
  const late = upstreamFailure(error, true, 'reply-body')
  expect(late).toMatchObject({ source: 'upstream', phase: 'reply-body', code: after, retryable: false })
  expect(late.cause).toBe(error)
})

test('a ProxyError stays what it is', () => {
  const error = new ProxyError({ source: 'proxy', phase: 'connect', code: 'queue-full' })
  expect(upstreamFailure(error, true, 'reply-body')).toBe(error)
})
