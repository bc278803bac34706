/** Forged identity headers: whatever a client sends, the upstream sees only what the handshake proved. */
import { X509Certificate as X509 } from 'node:crypto'
import { createServer } from 'node:http'
import { connect as connectH2, createServer as createH2c, type ServerHttp2Stream } from 'node:http2'
import type { Server as TcpServer } from 'node:net'
import { attach, pipeline, proxy, upstream } from '@postern/core'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientIdentity } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { client, get1, get2, listen, secureEdge, store } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const root = authority('Clients')
const middle = root.intermediate('Middle')
const alice = middle.issue({
  subject: 'alice "a", b',
  client: true,
  names: ['alice.internal'],
  uris: ['spiffe://a/x,y'],
})
const pem = authority('Servers').issue({ names: ['a.test'] })
const shown = { cert: alice.cert + middle.cert, key: alice.key }

const NAMES = [
  ...[
    'X-Client-Cert-SHA256',
    'x-client-cert-sha256',
    'X_Client_Cert_SHA256',
    'X.Client.Cert.SHA256',
    'X-Client_Cert.SHA256',
  ],
  ...[
    'Client-Cert',
    'CLIENT-CERT',
    'Client_Cert',
    'client.cert',
    'Client-Cert-Chain',
    'client_cert_chain',
    'Client~Cert',
  ],
  ...['X-Forwarded-Client-Cert', 'x_forwarded_client_cert', 'X-Forwarded_Client-Cert', 'X-SSL-Client-Verify'],
  ...[
    'SSL-Client-Cert',
    'SSL_CLIENT_S_DN',
    'X-Client-Verify',
    'X-Client-DN',
    'X-ARR-ClientCert',
    'X-Forwarded-Tls-Client-Cert',
  ],
]

let seen: string[][] = []
beforeEach(() => {
  seen = []
})

async function edge(options: Parameters<typeof clientIdentity>[0] = { clientCert: true, xfcc: true }) {
  const origin = createServer((req, res) => {
    seen.push(req.rawHeaders)
    res.end('ok')
  })
  const target = await listen(origin)
  const group = upstream({ name: 'origin', targets: [`http://127.0.0.1:${target}`] })
  onTestFinished(async () => {
    await group.destroy()
    origin.close()
    origin.closeAllConnections()
  })
  const app = pipeline().use(clientIdentity(options)).handle(proxy(group))
  const { tls } = await store({ pem, clients: { 'a.test': { mode: 'optional', ca: root.cert } } })
  return { app, ...(await secureEdge(tls, app)) }
}

const identities = (raw: string[]): string[] =>
  raw.flatMap((name, i) =>
    i % 2 === 0 && /cert|ssl|client/i.test(name) ? [`${name}: ${raw[i + 1]!.slice(0, 24)}`] : [],
  )

describe('without a certificate nothing arrives', () => {
  test.each(NAMES)('%s over HTTP/1.1, twice', async name => {
    const { port } = await edge()
    expect(
      await get1(port, 'a.test', {}, '/', `${name}: forged\r\nX-Other: 1\r\n${name}: again\r\n`),
    ).toMatch(/^200/)
    expect(identities(seen[0]!)).toEqual([])
    expect(seen[0]).toContain('X-Other')
  })

  test('all of them over HTTP/2, in lower case, twice', async () => {
    const { port } = await edge()
    const fields = Object.fromEntries(NAMES.map(name => [name.toLowerCase(), ['forged', 'again']]))
    expect(await get2(port, 'a.test', [fields])).toEqual(['200 ok'])
    expect(identities(seen[0]!)).toEqual([])
  })

  test('folded lines are refused or arrive without a forgery', async () => {
    const { port } = await edge()
    for (const lines of [
      'X-Other: a\r\n Client-Cert: forged\r\n',
      'Client-Cert:\r\n forged\r\n',
      'X-Client-Cert-SHA256: a\r\n\tb\r\n',
      'Client-Cert : forged\r\n',
    ]) {
      const answer = await get1(port, 'a.test', {}, '/', lines)
      expect(answer).toMatch(/^(200|400|closed)/)
    }
    for (const raw of seen) expect(identities(raw)).toEqual([])
  })

  test('on a server without TLS, too', async () => {
    const { app } = await edge()
    const server = createServer()
    const attached = attach(server as TcpServer, app)
    const port = await listen(server)
    onTestFinished(() => attached.drain(0))
    const lines = NAMES.map(name => [name, 'forged'])
    await fetch(`http://127.0.0.1:${port}/`, {
      headers: lines.filter(([name]) => !name!.includes('~')) as never,
    })
    expect(identities(seen[0]!)).toEqual([])
  })
})

describe('with a certificate only the truth arrives', () => {
  const truth = (raw: string[]): Record<string, string[]> => {
    const found: Record<string, string[]> = {}
    for (let i = 0; i < raw.length; i += 2) {
      if (/cert|ssl|client/i.test(raw[i]!)) (found[raw[i]!.toLowerCase()] ??= []).push(raw[i + 1]!)
    }
    return found
  }
  const expected = (): Record<string, string[]> => {
    const base64 = (der: Uint8Array): string => `:${Buffer.from(der).toString('base64')}:`
    const { fingerprint256 } = new X509(alice.cert)
    const hash = fingerprint256.replaceAll(':', '').toLowerCase()
    return {
      'x-client-cert-sha256': [hash],
      'client-cert': [base64(alice.der)],
      'client-cert-chain': [base64(middle.der)],
      'x-forwarded-client-cert': [
        // The subject is escaped once as a name (RFC 4514), once more as a quoted value.
        `Hash=${hash};Subject="CN=alice \\\\\\"a\\\\\\"\\\\, b";URI="spiffe://a/x,y";DNS=alice.internal`,
      ],
    }
  }

  test('HTTP/1.1, with every forgery, and Connection naming the fields', async () => {
    const { port } = await edge()
    const lines = NAMES.map(name => `${name}: forged\r\n`).join('')
    const { socket, rest } = await client(port, {
      servername: 'a.test',
      ALPNProtocols: ['http/1.1'],
      ...shown,
    })
    socket.write(
      `GET / HTTP/1.1\r\nHost: a.test\r\n${lines}Connection: close, X-Client-Cert-SHA256, Client-Cert, X-Forwarded-Client-Cert\r\n\r\n`,
    )
    expect(await rest()).toContain('200 OK')
    expect(truth(seen[0]!)).toEqual(expected())
  })

  test('HTTP/2, and the next request on the connection', async () => {
    const { port } = await edge()
    const fields = Object.fromEntries(NAMES.map(name => [name.toLowerCase(), 'forged']))
    expect(await get2(port, 'a.test', [fields, {}], shown)).toEqual(['200 ok', '200 ok'])
    for (const raw of seen) expect(truth(raw)).toEqual(expected())
  })

  test('nothing but the stripping, when every field is off', async () => {
    const { port } = await edge({ header: false })
    expect(await get1(port, 'a.test', shown, '/', 'Client-Cert: forged\r\n')).toMatch(/^200/)
    expect(truth(seen[0]!)).toEqual({})
  })
})

describe('by other ways in', () => {
  /** An edge in front of an HTTP/2 origin, which gets the trailers too. */
  async function h2Edge(filter = clientIdentity({ clientCert: true })) {
    const trailers: string[][] = []
    const origin = createH2c()
    origin.on('stream', (stream: ServerHttp2Stream, _head: object, _flags: number, raw: string[]) => {
      seen.push(raw)
      stream.on('trailers', (...[, , list]: unknown[]) => trailers.push(list as string[]))
      stream.resume()
      stream.on('end', () => {
        stream.respond({ ':status': 200 })
        stream.end('ok')
      })
    })
    const target = await listen(origin as unknown as TcpServer)
    const group = upstream({
      name: 'origin',
      protocol: 'h2c',
      targets: [`http://127.0.0.1:${target}`],
    })
    onTestFinished(async () => {
      await group.destroy()
      origin.close()
    })
    const { tls } = await store({ pem, clients: { 'a.test': { mode: 'optional', ca: root.cert } } })
    const made = await secureEdge(tls, pipeline().use(filter).handle(proxy(group)))
    return { ...made, trailers }
  }

  test('trailers, over HTTP/2 and HTTP/1.1: servers may take them for header fields', async () => {
    const { port, trailers } = await h2Edge()
    const forged = Object.fromEntries(NAMES.map(name => [name.toLowerCase(), 'forged']))
    const session = connectH2(`https://127.0.0.1:${port}`, {
      servername: 'a.test',
      rejectUnauthorized: false,
    })
    onTestFinished(() => session.destroy())
    const stream = session.request(
      { ':method': 'POST', ':path': '/', ':authority': 'a.test' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ ...forged, 'x-checksum': 'abc' }))
    stream.end('body')
    stream.resume()
    await new Promise(resolve => stream.on('close', resolve))

    const { socket, rest } = await client(port, { servername: 'a.test', ALPNProtocols: ['http/1.1'] })
    const lines = NAMES.map(name => `${name}: forged\r\n`).join('')
    socket.write(
      `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n${lines}X-Checksum: abc\r\n\r\n`,
    )
    expect(await rest()).toContain('200 OK')
    expect(trailers.map(list => [...list].map(one => one.toLowerCase()))).toEqual([
      ['x-checksum', 'abc'],
      ['x-checksum', 'abc'],
    ])
    for (const raw of seen) expect(identities(raw)).toEqual([])
  })

  test('a WebSocket handshake', async () => {
    const heads: string[][] = []
    const origin = createServer()
    origin.on('upgrade', (req, socket) => {
      heads.push(req.rawHeaders)
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
    })
    const target = await listen(origin)
    const group = upstream({ name: 'origin', targets: [`http://127.0.0.1:${target}`] })
    onTestFinished(async () => {
      await group.destroy()
      origin.close()
    })
    const app = pipeline().use(clientIdentity()).handle(proxy(group))
    const { tls } = await store({ pem })
    const { port } = await secureEdge(tls, app)
    const { socket, rest } = await client(port, { servername: 'a.test', ALPNProtocols: ['http/1.1'] })
    const lines = NAMES.map(name => `${name}: forged\r\n`).join('')
    socket.write(
      `GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines}\r\n`,
    )
    setTimeout(() => socket.end(), 1000)
    expect(await rest()).toContain('403')
    expect(heads.map(identities)).toEqual([[]])
  })
})
