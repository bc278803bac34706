/** TLS on servers of the host: what Node leaves open is closed, both protocols are quick, h1 is refused on h2c. */
import { createSecureServer } from 'node:http2'
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { attach, pipeline, reply } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { exchangeBytes, request2, session2 } from './support/clients.ts'
import { edge, listen, onWire } from './support/servers.ts'

const hello = pipeline().handle(cx =>
  reply(200, `${cx.request.version} ${cx.request.scheme} ${cx.request.peer.serverName}`),
)

function tls(port: number, ALPNProtocols: string[]): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      rejectUnauthorized: false,
      ALPNProtocols,
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => resolve(socket))
    onTestFinished(() => {
      socket.destroy()
    })
  })
}

function ending(socket: { on(event: 'close', listener: () => void): unknown }): Promise<string> {
  return new Promise(resolve => {
    socket.on('close', () => resolve('closed'))
    setTimeout(() => resolve('open'), 3000).unref()
  })
}

it('speaks both protocols on one port', async () => {
  const { port, url } = await edge(hello, 'h2')
  expect((await request2(session2(url), { ':path': '/' })).body).toBe('2.0 https null')
  const socket = await tls(port, ['http/1.1'])
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  expect(text).toMatch(/1\.1 https localhost$/)
})

it('closes a connection whose handshake takes too long', async () => {
  const server = createSecureServer({ ...certificate(), allowHTTP1: true, handshakeTimeout: 200 })
  const attached = attach(server, hello, { wire: onWire })
  const port = await listen(server)
  onTestFinished(() => attached.drain(0))
  const silent = connect(port, '127.0.0.1')
  silent.on('error', () => {})
  expect(await ending(silent)).toBe('closed')
})

it('closes a connection with an application protocol that nobody serves', async () => {
  const server = createSecureServer({
    ...certificate(),
    allowHTTP1: true,
    ALPNCallback: ({ protocols }) => protocols[0],
  })
  const attached = attach(server, hello, { wire: onWire })
  const port = await listen(server)
  onTestFinished(() => attached.drain(0))
  const socket = await tls(port, ['acme-tls/1'])
  socket.resume()
  expect(await ending(socket)).toBe('closed')
})

it('closes plain HTTP on a TLS port, and HTTP/1.1 on an h2c port', async () => {
  const secure = await edge(hello, 'h2')
  expect(await exchangeBytes(secure.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 1000)).toMatchObject({
    closed: true,
  })
  const cleartext = await edge(hello, 'h2c')
  const answer = await exchangeBytes(cleartext.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 1000)
  expect(answer.closed).toBe(true)
  expect(answer.text).not.toContain('200 OK')
})

it('sets TCP_NODELAY on the HTTP/1.1 fallback: two small writes are not held back', async () => {
  const { port, server } = await edge(hello, 'h2')
  let noDelay = false
  server.prependListener('connection', (socket: { setNoDelay(on: boolean): unknown }) => {
    const { setNoDelay } = socket
    socket.setNoDelay = function spy(on: boolean) {
      noDelay ||= on
      return setNoDelay.call(this, on)
    }
  })
  const socket = await tls(port, ['http/1.1'])
  socket.destroy()
  expect(noDelay).toBe(true)
})

it('refuses a server that answers already', async () => {
  const server = createSecureServer(certificate(), () => {})
  expect(() => attach(server, hello)).toThrow(/'request' listener already/)
})
