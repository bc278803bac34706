/** The look at first bytes on servers that the host owns. */
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { connect, type Server as TcpServer } from 'node:net'
import { attach, pipeline, reply } from '@postern/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fingerprints, inspect, type ReceptionOptions, tlsOf } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { get1, get2, listen, restOf, store } from './support/servers.ts'

vi.setConfig({ testTimeout: 60_000 })

const pem = authority('Root').issue({ names: ['a.test'] })
const who = pipeline().handle(cx => {
  const { peer } = cx.request
  return reply(200, `${peer.address}:${peer.port} ${tlsOf(cx)?.hello?.ja4 ?? '-'}`)
})

async function served(secure: boolean, options: ReceptionOptions) {
  const { tls } = await store({ pem })
  const server = (
    secure ? createSecureServer({ ...tls.serverOptions(), allowHTTP1: true }) : createServer()
  ) as TcpServer
  const counts = inspect(server, { helloTimeout: 400, ...options })
  const attached = attach(server, who)
  if (secure) tls.protect(server)
  const port = await listen(server)
  onTestFinished(() => attached.drain(0))
  return { port, counts }
}

async function bytes(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(text)
  return restOf(socket)
}

const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'
const PROXY = 'PROXY TCP4 192.0.2.9 198.51.100.7 5000 443\r\n'

test('an https server tells the JA4, over both protocols, and closes what is no TLS or takes too long', async () => {
  const { port, counts } = await served(true, {})
  expect(await get1(port, 'a.test')).toMatch(/^200 127\.0\.0\.1:\d+ t13d\d{4}h1_/)
  expect((await get2(port, 'a.test', [{}]))[0]).toMatch(/^200 127\.0\.0\.1:\d+ t13d\d{4}h2_/)
  expect(await bytes(port, GET)).toBe('')
  expect(await bytes(port, '\x16\x03')).toBe('')
  expect(counts).toEqual({ accepted: 4, denied: 0, malformed: 1, timedOut: 1 })
})

test('a gate refuses before the handshake', async () => {
  const { port, counts } = await served(true, { gate: fingerprints({ allow: ['t13d1516h2_*'] }) })
  expect(await get1(port, 'a.test')).toBe('closed')
  expect(counts.denied).toBe(1)
})

test('a plain server takes the PROXY protocol of trusted peers, and no TLS', async () => {
  const { port } = await served(false, { proxyProtocol: { trust: ['loopback'] } })
  expect(await bytes(port, PROXY + GET)).toMatch(/192\.0\.2\.9:5000 -$/)
  expect(await bytes(port, GET)).toBe('')
  expect(await get1(port, 'a.test')).toBe('closed')
  const open = await served(false, {})
  expect(await bytes(open.port, GET)).toMatch(/127\.0\.0\.1:\d+ -$/)
  expect(await bytes(open.port, PROXY + GET)).not.toContain('200 OK')
})

test('options that cannot work are refused', () => {
  expect(() => inspect(createServer(), { port: 1 } as never)).toThrow(/no such option/)
  expect(() => inspect(createServer(), { proxyProtocol: { trust: ['x'] } })).toThrow(/'x' is no address/)
  expect(() => inspect(createServer(), { helloTimeout: 0 })).toThrow(/helloTimeout/)
})
