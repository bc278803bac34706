/** What never becomes a request is answered, in words that cannot be turned against the log, and heard by it. */
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { accessLog, type Outcome, pipeline, reply, securityHeaders } from '../src/index.ts'
import { exchangeBytes, openTls } from './support/clients.ts'
import { edge, type Kind, until } from './support/servers.ts'

function logged() {
  const lines: Record<string, unknown>[] = []
  const outcomes: Outcome[] = []
  let text = ''
  const stream = new PassThrough()
  stream.on('data', chunk => {
    text += chunk
    for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line))
  })
  const app = pipeline()
    .use(accessLog({ logger: pino({ base: null }, stream) }))
    .use(securityHeaders())
    .use({ name: 'watch', onDone: (_cx, outcome) => void outcomes.push(outcome) })
    .handle(() => reply(200, 'ok'))
  return { app, lines, outcomes, text: () => text }
}

const EVIL = 'evil"\u001b[31m'

const CASES: [string, string, number, string, Partial<Record<string, string>>][] = [
  ['garbage', `${EVIL} evil\r\n\r\n`, 400, 'bad-request', {}],
  ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00', 400, 'bad-request', {}],
  ['a line that is no field', `GET / HTTP/1.1\r\nHost: a\r\n${EVIL}\r\n\r\n`, 400, 'bad-request', {}],
  [
    'a head of 20 KB',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'e'.repeat(20_000)}\r\n\r\n`,
    431,
    'head-too-large',
    {},
  ],
  ['no Host', 'GET /evil HTTP/1.1\r\n\r\n', 400, 'bad-authority', {}],
  ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', 405, 'method-not-allowed', {}],
  ['another Expect', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: evil\r\n\r\n', 417, 'expectation-failed', {}],
  ['HTTP/0.9', 'GET /evil\r\n\r\n', 400, 'bad-request', {}],
  ['HTTP/2.0 as a version of HTTP/1', 'GET /x HTTP/2.0\r\nHost: a\r\n\r\n', 400, 'bad-request', {}],
]

describe.each(['http', 'https', 'h2'] as Kind[])('on a port of %s', kind => {
  it.each(CASES)('%s is answered and logged', async (_what, bytes, status, code) => {
    const { app, lines, outcomes, text } = logged()
    const { port } = await edge(app, kind)
    let got = ''
    let closed = false
    const socket = kind === 'http' ? connect(port, '127.0.0.1') : await openTls(port)
    socket.on('error', () => {})
    socket.on('data', chunk => {
      got += chunk
    })
    socket.on('close', () => {
      closed = true
    })
    socket.write(Buffer.from(bytes, 'latin1'))
    await until('the end', () => closed, 4000)
    expect(got.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    expect(got).toMatch(/\r\nConnection: close\r\n/i)
    if (status === 405) expect(got).toMatch(/\r\nAllow: GET, /)
    // Reply hooks run for refusals, too.
    expect(got).toMatch(/x-content-type-options: nosniff/i)
    await until('the line', () => lines.length === 1)
    expect(lines[0]).toMatchObject({ status, error: { source: 'client', code } })
    expect(outcomes).toHaveLength(1)
    if (status !== 417) expect(text()).not.toContain('evil')
    expect(text()).not.toContain('\u001b')
  })
})

it('one line a connection, however much garbage follows', async () => {
  const { app, lines } = logged()
  const { port } = await edge(app)
  const { text } = await exchangeBytes(port, 'gar bage\r\n\r\n'.repeat(1000), 500)
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  await until('the line', () => lines.length === 1)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(lines).toHaveLength(1)
})
