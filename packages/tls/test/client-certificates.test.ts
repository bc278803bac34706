/** Client certificates by server name: who comes in, who does not, and what a ticket is not worth. */
import { X509Certificate as X509 } from 'node:crypto'
import { createServer as createHttps } from 'node:https'
import type { Server as TcpServer } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { attach, pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as der from '../src/der/write.ts'
import { clientIdentity, ticketKeys, tlsOf } from '../src/index.ts'
import { extension } from '../src/x509/build.ts'
import { authority } from './support/authority.ts'
import { client, get1, get2, listen, secureEdge, store } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const serverCa = authority('Server root')
const [rootA, rootB] = [authority('Clients A'), authority('Clients B')]
const alice = rootA.issue({
  subject: 'alice',
  client: true,
  names: ['alice.internal'],
  uris: ['spiffe://a/alice'],
})
const bob = rootB.issue({ subject: 'bob', client: true, emails: ['bob@b.example'] })
const self = authority('Self-made').issue({ client: true })
const pem = ['open.test', 'a.test', 'b.test', 'maybe.test'].map(name => serverCa.issue({ names: [name] }))

const who = pipeline().handle(cx => {
  const facts = tlsOf(cx)!
  return reply(200, `${facts.client?.subject ?? 'nobody'} ${facts.resumed}`)
})
const clients = {
  'a.test': { mode: 'required', ca: rootA.cert },
  'b.test': { mode: 'required', ca: rootB.cert },
  'maybe.test': { mode: 'optional', ca: rootA.cert },
} as const

async function doors(more: object = {}) {
  const { tls } = await store({ pem, clients, ...more })
  return { tls, ...(await secureEdge(tls, who)) }
}

describe('by server name', () => {
  const [A, B, S] = [pick(alice), pick(bob), pick(self)]
  const cases: [host: string, shown: string, with_: object, answer: string][] = [
    ['open.test', 'nothing', {}, '200 nobody false'],
    ['open.test', 'a certificate that nobody asked for', A, '200 nobody false'],
    ['a.test', 'nothing', {}, 'closed'],
    ['a.test', 'its own', A, '200 CN=alice false'],
    ['a.test', "another door's", B, 'closed'],
    ['a.test', 'a self-made one', S, 'closed'],
    ['b.test', 'its own', B, '200 CN=bob false'],
    ['b.test', "another door's", A, 'closed'],
    ['maybe.test', 'nothing', {}, '200 nobody false'],
    ['maybe.test', 'the right one', A, '200 CN=alice false'],
    ['maybe.test', 'a wrong one', B, 'closed'],
  ]
  test.each(cases)('%s, %s', async (host, _shown, options, answer) => {
    const { port } = await doors()
    expect(await get1(port, host, options)).toBe(answer)
    expect(await get2(port, host, [{}], options)).toEqual([answer])
  })

  test('only names with a policy ask: browsers would bother their users', async () => {
    const { port } = await doors()
    const asked = async (servername: string): Promise<boolean> => {
      const { socket } = await client(port, { servername, ...pick(alice) })
      await new Promise(resolve => setTimeout(resolve, 20))
      const own = socket.getCertificate() as { raw?: Buffer }
      socket.destroy()
      return own.raw !== undefined
    }
    // The client tells its certificate whether it was sent or not; the server's counts say who showed one.
    await asked('open.test')
    const { tls, port: second } = await doors()
    await get1(second, 'open.test', pick(alice))
    expect(tls.counts).toMatchObject({ handshakes: 1, identified: 0, refused: 0 })
    await get1(second, 'a.test', pick(alice))
    await get1(second, 'a.test', {})
    expect(tls.counts).toMatchObject({ handshakes: 2, identified: 1, refused: 1 })
  })

  test('for all names: OpenSSL refuses already in the handshake', async () => {
    const { port } = await doors({ clients: { '*': { mode: 'required', ca: rootA.cert } } })
    expect(await get1(port, 'open.test')).toBe('closed')
    expect(await get1(port, 'open.test', pick(bob))).toBe('closed')
    expect(await get1(port, 'open.test', pick(alice))).toBe('200 CN=alice false')
  })
})

describe('what is looked at beside the signature', () => {
  const cases: [what: string, cert: { cert: string; key: string }][] = [
    ['an ended certificate', rootA.issue({ client: true, to: Date.now() - 60_000 })],
    ['one that begins later', rootA.issue({ client: true, from: Date.now() + 600_000 })],
    ["a server's certificate", rootA.issue({ names: ['a.test'] })],
    [
      'one with a critical extension that nobody knows',
      rootA.issue({ client: true, extra: [extension('1.2.3.4', true, der.derBoolean(true))] }),
    ],
    [
      'one of an authority below one that may not have any',
      rootA.intermediate('x', 0).intermediate('y').issue({ client: true }),
    ],
  ]
  test.each(cases)('%s', async (_what, cert) => {
    const { port } = await doors()
    expect(await get1(port, 'a.test', pick(cert))).toBe('closed')
  })

  const allow: [list: object, answers: [string, string]][] = [
    [{ fingerprints: [colons(alice)] }, ['200', 'closed']],
    [{ names: ['dns:ALICE.internal'] }, ['200', 'closed']],
    [{ names: ['uri:spiffe://a/alice'] }, ['200', 'closed']],
    [{ names: ['dns:other.internal', 'email:alice.internal'] }, ['closed', 'closed']],
    [{ authorities: [colons(rootA)] }, ['200', '200']],
    [{ authorities: [colons(rootB)] }, ['closed', 'closed']],
  ]
  test.each(allow)('allow-list %j', async (list, [forAlice, forCarol]) => {
    const carol = rootA.issue({ client: true, names: ['carol.internal'] })
    const { port } = await doors({ clients: { 'a.test': { mode: 'required', ca: rootA.cert, allow: list } } })
    expect((await get1(port, 'a.test', pick(alice))).split(' ')[0]).toBe(forAlice)
    expect((await get1(port, 'a.test', pick(carol))).split(' ')[0]).toBe(forCarol)
  })
})

describe('T1: a ticket opens no door that needs a certificate', () => {
  /** A ticket of one door is shown at another. */
  async function replay(
    from: string,
    shown: object,
    to: string,
    ports: [number, number],
    shownNow: object = {},
  ) {
    const first = await client(ports[0], { servername: from, ALPNProtocols: ['http/1.1'], ...shown }, true)
    first.socket.destroy()
    return get1(ports[1], to, { session: first.session!, ...shownNow })
  }

  test('(a) of another server with the same ticket keys', async () => {
    const tickets = ticketKeys({ secret: Buffer.alloc(32, 7) })
    const open = await doors({ clients: {}, tickets })
    const closed = await doors({ tickets })
    const uniform = await doors({ tickets, clients: { '*': { mode: 'required', ca: rootA.cert } } })
    expect(await replay('a.test', {}, 'a.test', [open.port, open.port])).toMatch(/^200 nobody true/)
    expect(await replay('a.test', {}, 'a.test', [open.port, closed.port])).toBe('closed')
    expect(await replay('a.test', {}, 'a.test', [open.port, uniform.port])).toBe('closed')
    // What bare node:tls says of the same ticket, where only the keys agree: the trap is real where it is authorized.
    expect(closed.tls.counts.identified + uniform.tls.counts.identified).toBe(0)
  })

  test('(b) of an optional door that was passed without one', async () => {
    const { port, tls } = await doors()
    expect(await replay('maybe.test', {}, 'maybe.test', [port, port])).toBe('200 nobody true')
    expect(await replay('maybe.test', {}, 'a.test', [port, port])).toBe('closed')
    expect(await replay('open.test', {}, 'a.test', [port, port])).toBe('closed')
    expect(tls.counts.identified).toBe(0)
  })

  test('(c) of a door with other authorities', async () => {
    const { port } = await doors()
    expect(await replay('b.test', pick(bob), 'a.test', [port, port])).toBe('closed')
    expect(await replay('b.test', pick(bob), 'a.test', [port, port], pick(bob))).toBe('closed')
    // Of its own door it is a ticket like any other.
    expect(await replay('b.test', pick(bob), 'b.test', [port, port], pick(bob))).toBe('200 CN=bob true')
  })

  test('(d) of a client that was refused: TLS 1.3 gives it a ticket before it is judged', async () => {
    const { port, tls } = await doors()
    for (const shown of [{}, pick(bob), pick(self)]) {
      const first = await client(port, { servername: 'a.test', ...shown }, true).catch(() => null)
      if (first?.session)
        expect(await get1(port, 'a.test', { session: first.session, ...shown })).toBe('closed')
    }
    expect(tls.counts.identified).toBe(0)
  })

  test('(e) issued before the certificate was taken off the list', async () => {
    const tickets = ticketKeys({ secret: Buffer.alloc(32, 7) })
    const before = await doors({ tickets })
    const list = { fingerprints: [colons(bob)] }
    const after = await doors({ tickets, clients: { 'a.test': { ...clients['a.test'], allow: list } } })
    expect(await replay('a.test', pick(alice), 'a.test', [before.port, before.port], pick(alice))).toBe(
      '200 CN=alice true',
    )
    expect(await replay('a.test', pick(alice), 'a.test', [before.port, after.port], pick(alice))).toBe(
      'closed',
    )
  })

  test('(f) after the certificate has ended', async () => {
    let now = Date.now()
    const short = rootA.issue({ subject: 'short', client: true, to: now + 60_000 })
    const { port } = await doors({ clock: () => now, tickets: false })
    const first = await client(port, { servername: 'a.test', ...pick(short) }, true)
    const again = { session: first.session!, ...pick(short) }
    expect(await get1(port, 'a.test', again)).toBe('200 CN=short true')
    now += 120_000
    expect(await get1(port, 'a.test', again)).toBe('closed')
  })
})

describe('policies that a function gives', () => {
  test('change with a reload: doors open, close, and a ticket of before is worth nothing', async () => {
    let table: object = {}
    const { tls, events } = await store({ pem, clients: () => table as never })
    const { port } = await secureEdge(tls, who)
    const ask = (options: object = {}) => get1(port, 'a.test', options)
    expect(await ask()).toBe('200 nobody false')
    const open = await client(port, { servername: 'a.test' }, true)
    table = clients
    expect(await tls.reload()).toBe(true)
    expect(await ask()).toBe('closed')
    expect(await ask({ session: open.session! })).toBe('closed')
    expect(await ask(pick(alice))).toBe('200 CN=alice false')
    const known = await client(port, { servername: 'a.test', ...pick(alice) }, true)
    table = { 'a.test': { ...clients['a.test'], allow: { fingerprints: [colons(bob)] } } }
    expect(await tls.reload()).toBe(true)
    expect(await ask(pick(alice))).toBe('closed')
    expect(await ask({ ...pick(alice), session: known.session! })).toBe('closed')
    // What cannot work changes nothing.
    for (const wrong of [
      { 'a.test': { mode: 'none', ca: rootA.cert } },
      { 'a.test': { mode: 'required', ca: '' } },
      null,
      [],
    ]) {
      table = wrong as never
      expect(await tls.reload()).toBe(false)
      expect(await ask()).toBe('closed')
    }
    expect(events.filter(event => event.kind === 'reload-failed')).toHaveLength(4)
  })
})

describe('intermediates', () => {
  const middle = rootA.intermediate('Middle')
  const dave = middle.issue({ subject: 'dave', client: true })
  const withChain = { cert: dave.cert + middle.cert, key: dave.key }

  test('that the client sends; a resumed connection of the same process remembers them', async () => {
    const { port } = await doors()
    expect(await get1(port, 'a.test', pick(dave))).toBe('closed')
    expect(await get1(port, 'a.test', withChain)).toBe('200 CN=dave false')
    const first = await client(port, { servername: 'a.test', ...withChain }, true)
    expect(await get1(port, 'a.test', { ...withChain, session: first.session! })).toBe('200 CN=dave true')
  })

  test('that the store has in `ca` are enough everywhere', async () => {
    const tickets = ticketKeys({ secret: Buffer.alloc(32, 7) })
    const policy = { 'a.test': { mode: 'required', ca: [rootA.cert, middle.cert] } }
    const [one, two] = [await doors({ tickets, clients: policy }), await doors({ tickets, clients: policy })]
    const first = await client(one.port, { servername: 'a.test', ...pick(dave) }, true)
    expect(await get1(two.port, 'a.test', { ...pick(dave), session: first.session! })).toBe(
      '200 CN=dave true',
    )
  })
})

describe('421: one name does not lead through the connection of another', () => {
  const answers = ['421 421 misdirected', '200 nobody false', '200 nobody false']
  test('HTTP/2', async () => {
    const { port } = await doors()
    const asked = ['a.test', 'open.test', 'elsewhere.test'].map(name => ({ ':authority': name }))
    expect(await get2(port, 'open.test', asked)).toEqual(answers)
    expect(
      await get2(
        port,
        'maybe.test',
        [{ ':authority': 'a.test' }, { ':authority': 'maybe.test' }],
        pick(alice),
      ),
    ).toEqual(['421 421 misdirected', '200 CN=alice false'])
    // Another certificate, though no policy: RFC 9113, 9.1.1.
    const { tls } = await store({ pem })
    const plain = await secureEdge(tls, who)
    expect(await get2(plain.port, 'open.test', [{ ':authority': 'a.test' }])).toEqual(['421 421 misdirected'])
  })

  test('HTTP/1.1, and connections without a name', async () => {
    const { port } = await doors()
    for (const servername of ['open.test', 'maybe.test', '']) {
      const made = await client(port, { servername, ALPNProtocols: ['http/1.1'] })
      made.socket.write('GET / HTTP/1.1\r\nHost: a.test:443\r\n\r\n')
      expect(await made.rest()).toMatch(/^HTTP\/1\.1 421 /)
    }
    // The same door in other spellings.
    for (const [target, host] of [
      ['/', 'A.TEST'],
      ['/', 'a.test.'],
      ['/', 'a.test:8443'],
      ['https://a.test/', 'a.test'],
      ['https://A.test.:443/', 'a.test'],
    ]) {
      const made = await client(port, { servername: 'open.test', ALPNProtocols: ['http/1.1'] })
      made.socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect(await made.rest(), `${target} ${host}`).toMatch(/^HTTP\/1\.1 421 /)
    }
    // Two names in one request are none.
    const made = await client(port, { servername: 'open.test', ALPNProtocols: ['http/1.1'] })
    made.socket.write('GET https://a.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n')
    expect(await made.rest()).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('names that share a certificate and a policy share connections', async () => {
    const shared = serverCa.issue({ names: ['x.test', 'y.test', '*.z.test'] })
    const both = { mode: 'required', ca: rootA.cert } as const
    const { tls } = await store({ pem: shared, clients: { 'x.test': both, 'y.test': both } })
    const { port } = await secureEdge(tls, who)
    const asked = ['y.test', 'x.test', 'q.z.test'].map(name => ({ ':authority': name }))
    expect(await get2(port, 'x.test', asked, pick(alice))).toEqual([
      '200 CN=alice false',
      '200 CN=alice false',
      '421 421 misdirected',
    ])
  })
})

test('a server that was not given to protect() serves nobody when there are policies', async () => {
  const { tls } = await store({ pem, clients })
  const server = createHttps(tls.serverOptions({ protocols: ['http/1.1'] }))
  attach(server as unknown as TcpServer, who)
  const port = await listen(server as unknown as TcpServer)
  onTestFinished(() => void server.close())
  for (const name of ['open.test', 'a.test']) expect(await get1(port, name, pick(alice))).toBe('closed')
  await expect(client(port)).rejects.toThrow()
  // Another server of the same store that is protected changes nothing about this one.
  const other = await secureEdge(tls, who)
  expect(await get1(other.port, 'a.test', pick(alice))).toBe('200 CN=alice false')
  for (const name of ['open.test', 'a.test']) expect(await get1(port, name)).toBe('closed')
})

test('bare node:tls: `authorized` is true for a ticket without any certificate on Node 20 and 22', async () => {
  const ticketKeysOfBoth = Buffer.alloc(48, 3)
  const base = { ...pick(pem[1]!), ca: rootA.cert, ticketKeys: ticketKeysOfBoth }
  const seen: [authorized: boolean, certificate: boolean][] = []
  const open = createTls({ ...base })
  const closed = createTls({ ...base, requestCert: true, rejectUnauthorized: true }, socket => {
    seen.push([socket.authorized, socket.getPeerCertificate().raw !== undefined])
    socket.destroy()
  })
  closed.on('tlsClientError', () => {})
  open.on('tlsClientError', () => {})
  open.on('secureConnection', socket => socket.on('error', () => {}))
  const [from, to] = [await listen(open), await listen(closed)]
  onTestFinished(() => void open.close(() => closed.close()))
  const first = await client(from, { servername: 'a.test' }, true)
  const second = await client(to, { servername: 'a.test', session: first.session! }).catch(() => null)
  first.socket.destroy()
  second?.socket.destroy()
  // Whatever this Node says, it has no certificate to show; that is what the store looks at.
  expect(seen.every(([, certificate]) => !certificate)).toBe(true)
})

describe('the filter', () => {
  test('refuses nobody, and those who are not on the list', async () => {
    const app = pipeline()
      .route('/any', r =>
        r.use(clientIdentity({ require: true })).handle(cx => reply(200, cx.state.client!.fingerprint256)),
      )
      .route('/bob', r =>
        r.use(clientIdentity({ allow: { fingerprints: [colons(bob)] } })).handle(() => reply(200)),
      )
      .handle()
    const { tls } = await store({ pem, clients })
    const { port } = await secureEdge(tls, app)
    expect(await get1(port, 'maybe.test', {}, '/any')).toMatch(/^403 403 client certificate required/)
    expect(await get1(port, 'maybe.test', pick(alice), '/any')).toBe(
      `200 ${colons(alice).replaceAll(':', '').toLowerCase()}`,
    )
    expect(await get1(port, 'maybe.test', pick(alice), '/bob')).toMatch(/^403 403 client not allowed/)
    expect(await get1(port, 'maybe.test', {}, '/bob')).toMatch(/^403 403 client certificate required/)
    expect((await app.inject({ path: '/any', headers: { 'Client-Cert': ':AA==:' } })).status).toBe(403)
  })

  test('refuses options that cannot work', () => {
    expect(() => clientIdentity({ header: 'Host' })).toThrow(/"Host" cannot be used/)
    expect(() => clientIdentity({ header: 'a b' })).toThrow(/cannot be used/)
    expect(() => clientIdentity({ allow: { names: ['alice'] } })).toThrow(/no name with its kind/)
    expect(() => clientIdentity({ allowed: true } as never)).toThrow(/no such option/)
  })
})

function pick({ cert, key }: { cert: string; key: string }): { cert: string; key: string } {
  return { cert, key }
}

function colons({ cert }: { cert: string }): string {
  return new X509(cert).fingerprint256
}
