/** Handshakes that hang, break or ask for something strange. */
import { createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import { connect, type Socket, type Server as TcpServer } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { attach, pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { keyGroups } from '../src/policy/protocol.ts'
import { authority } from './support/authority.ts'
import { client, get1, listen, restOf, secureEdge, store, until } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const pem = authority('Root').issue({ names: ['a.test'] })
const hello = pipeline().handle(() => reply(200, 'hello'))

function raw(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

const closed = (socket: Socket): Promise<string> =>
  new Promise(resolve => socket.on('close', () => resolve('closed')))

/** A ClientHello of Node. */
async function clientHello(): Promise<Buffer> {
  return new Promise(resolve => {
    const server = createTls()
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      socket.once('data', (bytes: Buffer) => {
        socket.destroy()
        server.close()
        resolve(bytes)
      })
      socket.on('error', () => {})
    })
    void listen(server).then(port => client(port, { servername: 'a.test' }).catch(() => {}))
  })
}

describe('T2: a handshake that takes too long is closed', () => {
  test.each(['https', 'http2', 'tls'])('silence, on a server of %s', async kind => {
    const { tls } = await store({ pem, handshakeTimeout: 150 })
    const options = tls.serverOptions({ protocols: ['http/1.1'] })
    const server = (
      kind === 'https'
        ? createHttps(options)
        : kind === 'http2'
          ? createSecureServer({ ...options, allowHTTP1: true })
          : createTls(options)
    ) as TcpServer
    tls.protect(server)
    const port = await listen(server)
    onTestFinished(() => void server.close())
    const silent = raw(port)
    expect(await closed(silent)).toBe('closed')
    await until('it is counted', () => tls.counts.timedOut === 1)
  })

  test('drops: the time counts from the start', async () => {
    const bytes = await clientHello()
    const { tls } = await store({ pem, handshakeTimeout: 300 })
    const { port } = await secureEdge(tls, hello)
    const slow = raw(port)
    let at = 0
    const timer = setInterval(() => slow.write(bytes.subarray(at, ++at)), 20)
    onTestFinished(() => clearInterval(timer))
    expect(await closed(slow)).toBe('closed')
    expect(at).toBeLessThan(bytes.length)
  })

  test('rubbish, plain HTTP and cut handshakes are closed and counted', async () => {
    const { tls } = await store({ pem })
    const { port } = await secureEdge(tls, hello)
    const half = (await clientHello()).subarray(0, 100).toString('latin1')
    for (const bytes of ['\x16\x03\x01\x00\x05hello', 'GET / HTTP/1.1\r\n\r\n', half]) {
      const socket = raw(port)
      socket.write(Buffer.from(bytes, 'latin1'))
      if (bytes === half) socket.end()
      socket.resume()
      expect(await closed(socket)).toBe('closed')
    }
    await until('they are counted', () => tls.counts.failed === 3)
    expect(await get1(port, 'a.test')).toBe('200 hello')
  })
})

test('T4: the HTTP/1.1 fallback of an http2 server has Nagle off', async () => {
  const { tls } = await store({ pem })
  const calls: boolean[] = []
  const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true }, (_req, res) => res.end('x'))
  // Given to the system with the listener, not by setNoDelay on each socket.
  expect((server as unknown as { noDelay: boolean }).noDelay).toBe(true)
  tls.protect(server as unknown as TcpServer)
  server.on('secureConnection', () => calls.push(true))
  const port = await listen(server as unknown as TcpServer)
  onTestFinished(() => void server.close())
  expect(await get1(port, 'a.test')).toMatch(/^200/)
  expect(calls).toEqual([true])
})

test('T9: an application protocol that nobody speaks is not left open', async () => {
  const { tls } = await store({ pem })
  const { port } = await secureEdge(tls, hello)
  await expect(client(port, { ALPNProtocols: ['acme-tls/1'] }).then(made => made.rest())).rejects.toThrow()
  await expect(client(port, { ALPNProtocols: ['spdy/3'] }).then(made => made.rest())).rejects.toThrow()
  // None at all is HTTP/1.1.
  const { socket } = await client(port, { servername: 'a.test' })
  socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(await restOf(socket)).toContain('200 OK')
})

test('the hybrid group with ML-KEM is used where OpenSSL has it, and X25519 where not', async () => {
  const { tls } = await store({ pem })
  const { port } = await secureEdge(tls, hello)
  const { socket } = await client(port)
  const info = socket.getEphemeralKeyInfo() as { name?: string }
  if (keyGroups().startsWith('X25519MLKEM768:')) expect([undefined, 'X25519MLKEM768']).toContain(info.name)
  else expect(info.name).toBe('X25519')
  await expect(client(port, { ecdhCurve: 'P-521' })).rejects.toThrow()
})

test('the cheapest suite is chosen, and ChaCha20 for who names it first', async () => {
  const { tls } = await store({ pem })
  const { port } = await secureEdge(tls, hello)
  const aes128 = 'TLS_AES_128_GCM_SHA256'
  const aes256 = 'TLS_AES_256_GCM_SHA384'
  const chacha = 'TLS_CHACHA20_POLY1305_SHA256'
  for (const [offered, chosen] of [
    [[aes256, chacha, aes128], aes128],
    [[aes256, chacha], aes256],
    [[chacha, aes128, aes256], chacha],
  ] as const) {
    const { socket } = await client(port, { ciphers: offered.join(':'), servername: 'a.test' })
    expect(socket.getCipher().standardName).toBe(chosen)
    socket.destroy()
  }
})

test('TLS 1.2 is not renegotiated: what was judged stays what it is', async () => {
  const { tls } = await store({ pem, minVersion: 'TLSv1.2' })
  const { port } = await secureEdge(tls, hello)
  const { socket } = await client(port, { maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] })
  const outcome = await new Promise<string>(resolve => {
    socket.removeAllListeners('error')
    socket.on('error', () => resolve('refused'))
    socket.on('close', () => resolve('refused'))
    socket.renegotiate({ rejectUnauthorized: false }, error => resolve(error ? 'refused' : 'done'))
  })
  expect(outcome).toBe('refused')
})

test('a server without TLS is refused', async () => {
  const { tls } = await store({ pem })
  const { createServer } = await import('node:http')
  expect(() => tls.protect(createServer())).toThrow(/does not speak TLS/)
})

test('protect() before attach() serves too', async () => {
  const { tls } = await store({ pem })
  const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true }) as unknown as TcpServer
  tls.protect(server)
  const attached = attach(server, hello)
  tls.protect(server)
  const port = await listen(server)
  onTestFinished(() => attached.drain(0))
  expect(await get1(port, 'a.test')).toBe('200 hello')
  expect(tls.counts.handshakes).toBe(1)
})
