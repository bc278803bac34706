import { expect, test } from 'vitest'
import { isTunnelProtocol, mayUpgrade } from './candidate.ts'

test.each([
  ['websocket', true],
  ['WebSocket', true],
  ['tcp', true],
  ['spdy/3.1', true],
  ['h2c', false],
  ['H2C', false],
  ['h2', false],
  ['h2c-14', false],
  ['HTTP/2.0', false],
  ['TLS/1.0', false],
  ['tls', false],
  ['websocket, h2c', false],
  ['websocket h2c', false],
  ['', false],
  ['a/b/c', false],
])('%j may be a tunnel: %s', (protocol, expected) => {
  expect(isTunnelProtocol(protocol)).toBe(expected)
})

const request = (rawHeaders: string[], method = 'GET', minor = 1): Parameters<typeof mayUpgrade>[0] => ({
  method,
  httpVersionMajor: 1,
  httpVersionMinor: minor,
  rawHeaders,
})

test.each([
  ['a WebSocket', request(['Upgrade', 'websocket']), true],
  ['with an empty body', request(['Upgrade', 'websocket', 'Content-Length', '0']), true],
  ['with a body', request(['Upgrade', 'websocket', 'content-length', '2']), false],
  ['with a chunked body', request(['Upgrade', 'websocket', 'Transfer-Encoding', 'chunked']), false],
  ['with POST', request(['Upgrade', 'websocket'], 'POST'), false],
  ['with HTTP/1.0', request(['Upgrade', 'websocket'], 'GET', 0), false],
  ['two protocols', request(['Upgrade', 'websocket', 'Upgrade', 'tcp']), false],
  ['settings of HTTP/2', request(['Upgrade', 'websocket', 'HTTP2-Settings', 'AA']), false],
  ['no protocol', request(['Host', 'a']), false],
])('%s', (_name, head, expected) => {
  expect(mayUpgrade(head)).toBe(expected)
})
