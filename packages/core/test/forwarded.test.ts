/** B049 to B051: nobody chooses his own address. */
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { attach, type Filter, type ProxyOptions, pipeline, proxy, reply } from '../src/index.ts'
import { get1, request2, session2 } from './support/clients.ts'
import { edge, field, fields, onWire, origin, testUpstream } from './support/servers.ts'

const SPOOFED = [
  'X-Forwarded-For: 1.2.3.4',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: evil.test',
  'X-Forwarded-Port: 1',
  'X-Real-IP: 1.2.3.4',
  'Forwarded: for=1.2.3.4',
]

async function forwarding(options: ProxyOptions = {}, trust: string[] = []) {
  const up = await origin()
  const seen: string[] = []
  const spy: Filter = {
    name: 'spy',
    onRequest: cx => {
      seen.push(`${cx.request.clientAddress} ${cx.request.scheme}`)
      return undefined
    },
  }
  const app = pipeline({ trust })
    .use(spy)
    .handle(proxy(testUpstream(up.url), options))
  return { up, app, seen, ...(await edge(app)) }
}

describe('B049: X-Forwarded-*', () => {
  it('from an untrusted peer is removed and written from the socket', async () => {
    const { up, port, seen } = await forwarding({ forwardedHeader: true })
    await get1(port, '/', SPOOFED)
    const { raw } = up.seen[0]!
    expect(fields(raw, 'x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(fields(raw, 'x-forwarded-proto')).toEqual(['http'])
    expect(fields(raw, 'x-forwarded-host')).toEqual(['edge.test'])
    expect(fields(raw, 'x-forwarded-port')).toEqual(['80'])
    expect(fields(raw, 'x-real-ip')).toEqual(['127.0.0.1'])
    expect(fields(raw, 'forwarded')).toEqual(['for=127.0.0.1;host=edge.test;proto=http'])
    expect(seen).toEqual(['127.0.0.1 http'])
  })

  it('over h2 is the same', async () => {
    const up = await origin()
    const { url } = await edge(pipeline().handle(proxy(testUpstream(up.url))), 'h2')
    await request2(session2(url), { ':path': '/', 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'http' })
    expect(fields(up.seen[0]!.raw, 'x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(fields(up.seen[0]!.raw, 'x-forwarded-proto')).toEqual(['https'])
  })

  it('from a trusted peer is appended to; the client is the right-most untrusted hop', async () => {
    const { up, port, seen } = await forwarding({}, ['127.0.0.0/8', '10.0.0.0/8'])
    await get1(port, '/', [
      'X-Forwarded-For: 6.6.6.6, 203.0.113.9',
      'X-Forwarded-For: 10.1.1.1',
      'X-Forwarded-Proto: https',
    ])
    const { raw } = up.seen[0]!
    expect(fields(raw, 'x-forwarded-for')).toEqual(['6.6.6.6, 203.0.113.9, 10.1.1.1, 127.0.0.1'])
    expect(fields(raw, 'x-forwarded-proto')).toEqual(['https'])
    expect(fields(raw, 'x-real-ip')).toEqual(['203.0.113.9'])
    expect(seen).toEqual(['203.0.113.9 https'])
  })

  it('from a trusted peer is replaced on request', async () => {
    const { up, port } = await forwarding({ forwarded: 'replace' }, ['loopback'])
    await get1(port, '/', ['X-Forwarded-For: 6.6.6.6, 203.0.113.9'])
    expect(fields(up.seen[0]!.raw, 'x-forwarded-for')).toEqual(['203.0.113.9'])
  })

  it('is dropped from an untrusted peer even when it is off', async () => {
    const { up, port } = await forwarding({ forwarded: 'off' })
    await get1(port, '/', SPOOFED)
    for (const name of ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded']) {
      expect(fields(up.seen[0]!.raw, name)).toEqual([])
    }
  })

  it('cannot be nominated away by Connection', async () => {
    const { up, port } = await forwarding()
    await get1(port, '/', ['Connection: X-Forwarded-For, X-Real-IP, Host'])
    expect(fields(up.seen[0]!.raw, 'x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(fields(up.seen[0]!.raw, 'host')).toEqual(['edge.test'])
  })
})

describe('B050: client addresses', () => {
  it('writes IPv4-mapped addresses as IPv4 and quotes IPv6 in Forwarded', async () => {
    const { up, app } = await forwarding({ forwardedHeader: true })
    for (const address of ['::ffff:10.0.0.1', '2001:DB8::1', 'fe80::1%eth0']) await app.inject({ address })
    expect(up.seen.map(one => field(one.raw, 'x-forwarded-for'))).toEqual([
      '10.0.0.1',
      '2001:db8::1',
      'fe80::1',
    ])
    expect(field(up.seen[1]!.raw, 'forwarded')).toBe('for="[2001:db8::1]";host=localhost;proto=http')
  })

  it('has a word for peers without an address', async () => {
    const { up, app } = await forwarding()
    await app.inject({ address: '' })
    expect(field(up.seen[0]!.raw, 'x-forwarded-for')).toBe('unknown')
  })
})

describe('Unix sockets', () => {
  it.each([
    [[], '', 'http'],
    [['unix'], '203.0.113.9', 'https'],
  ])('with trust %j see the client as %j over %s', async (trust, client, scheme) => {
    const seen: string[] = []
    const app = pipeline({ trust }).handle(cx => {
      seen.push(`${cx.request.clientAddress} ${cx.request.scheme}`)
      return reply(200)
    })
    const server = createServer()
    const attached = attach(server, app, { wire: onWire })
    onTestFinished(() => attached.drain(0))
    const path = join(mkdtempSync(join(tmpdir(), 'postern-')), 'edge.sock')
    await new Promise<void>(resolve => server.listen(path, resolve))
    const socket = connect(path)
    socket.write(
      'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n',
    )
    for await (const _chunk of socket);
    expect(seen).toEqual([`${client} ${scheme}`])
  })
})

describe('B051: alias spellings of managed headers', () => {
  it('are dropped', async () => {
    const { up, port } = await forwarding()
    await get1(port, '/', [
      'X_Forwarded_For: 1.2.3.4',
      'x.real.ip: 1.2.3.4',
      'X_FORWARDED_PROTO: https',
      'Content_Length: 5',
      'X_Mine: 1',
    ])
    const names = up.seen[0]!.raw.filter((_, i) => i % 2 === 0).map(name => name.toLowerCase())
    expect(names.filter(name => /[_.]/.test(name))).toEqual(['x_mine'])
  })

  it('are dropped for what a filter sets', async () => {
    const up = await origin()
    const identity: Filter = {
      name: 'identity',
      onForward: (_cx, out) => {
        out.headers.set('Remote-User', 'alice')
      },
    }
    const { port } = await edge(
      pipeline()
        .use(identity)
        .handle(proxy(testUpstream(up.url))),
    )
    await get1(port, '/', ['Remote_User: root', 'remote.user: root', 'REMOTE-USER: root'])
    const { raw } = up.seen[0]!
    expect(
      raw.flatMap((name, i) => (i % 2 === 0 && /remote.user/i.test(name) ? [`${name}=${raw[i + 1]}`] : [])),
    ).toEqual(['Remote-User=alice'])
  })

  it('refuses a name with a trailing tab', async () => {
    const { up, port } = await forwarding()
    expect((await get1(port, '/', ['X-Forwarded-For\t: 1.2.3.4'])).status).toBe(400)
    expect(up.seen).toEqual([])
  })
})

describe('what only an edge in front may tell', () => {
  const NAMES = [
    ...[
      'X-Forwarded-Ssl',
      'X-Forwarded-Scheme',
      'X-Forwarded-Server',
      'X-Forwarded-Prefix',
      'X-Forwarded-Client-Cert',
    ],
    ...['X-Forwarded-For-Original', 'X-Forwarded-User', 'X-Forwarded', 'Forwarded-For', 'Forwarded-Host'],
    ...[
      'Client-IP',
      'X-Client-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'CF-Connecting-IPv6',
      'X-Cluster-Client-IP',
    ],
    ...[
      'X-Original-URL',
      'X-Rewrite-URL',
      'X-Original-Host',
      'X-Original-Forwarded-For',
      'X-Host',
      'X-Scheme',
    ],
    ...[
      'Fastly-Client-IP',
      'X-Envoy-External-Address',
      'Front-End-Https',
      'Client-Cert',
      'X-SSL-Client-Cert',
    ],
  ]
  /** Names that CGI cannot tell apart, and spellings of them. */
  const spellings = (name: string): string[] => [
    ...new Set([
      name,
      name.toLowerCase(),
      name.toUpperCase(),
      name.replaceAll('-', '_'),
      name.replaceAll('-', '.'),
      name.replace('-', '_'),
      name.replace(/-(?=[^-]*$)/, '.'),
    ]),
  ]
  const folded = (raw: readonly string[]): string[] =>
    raw.filter((_, i) => i % 2 === 0).map(name => name.toLowerCase().replace(/[_.]/g, '-'))

  it.each(NAMES)(
    '%s of an untrusted peer, in any spelling, does not reach the origin over h1 and h2',
    async name => {
      const { up, port, app } = await forwarding()
      await get1(port, '/', [
        ...spellings(name).map(one => `${one}: evil`),
        'X-Mine: 1',
        'Connection: X-Nothing',
      ])
      const session = session2((await edge(app, 'h2c')).url)
      const lower = [...new Set(spellings(name).map(one => one.toLowerCase()))]
      await request2(session, Object.fromEntries([...lower.map(one => [one, 'evil']), ['x-mine', '1']]))
      expect(up.seen).toHaveLength(2)
      for (const { raw } of up.seen) {
        expect(folded(raw)).toContain('x-mine')
        expect(folded(raw)).not.toContain(name.toLowerCase())
        expect(raw).not.toContain('evil')
      }
    },
  )

  it.each(NAMES)('%s of a trusted peer is passed on as it is, aliases of it are not', async name => {
    const { up, port, app } = await forwarding({}, ['loopback'])
    await get1(port, '/', [`${name}: a`, `${name}: b`])
    await request2(session2((await edge(app, 'h2c')).url), {
      [name.toLowerCase()]: 'a',
      [name.toLowerCase().replaceAll('-', '_')]: 'evil',
      [name.toLowerCase().replaceAll('-', '.')]: 'evil',
    })
    expect(fields(up.seen[0]!.raw, name.toLowerCase())).toEqual(['a', 'b'])
    expect(fields(up.seen[1]!.raw, name.toLowerCase())).toEqual(['a'])
    expect(up.seen[1]!.raw).not.toContain('evil')
  })

  it.each([[[]], [['loopback']]])('Proxy reaches no origin (httpoxy), trusted: %j', async trust => {
    const { up, port, app } = await forwarding({}, trust)
    await get1(port, '/', ['Proxy: http://evil.test', 'PROXY: http://evil.test'])
    await request2(session2((await edge(app, 'h2c')).url), { proxy: 'http://evil.test' })
    expect(up.seen).toHaveLength(2)
    for (const { raw } of up.seen) expect(raw).not.toContain('http://evil.test')
  })

  it('a filter may write them', async () => {
    const up = await origin()
    const cert: Filter = {
      name: 'cert',
      onForward: (_, out) => void out.headers.set('Client-Cert', ':AA==:'),
    }
    const app = pipeline()
      .use(cert)
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    await get1(port, '/', ['Client-Cert: :evil:', 'Client_Cert: :evil:'])
    expect(fields(up.seen[0]!.raw, 'client-cert')).toEqual([':AA==:'])
    expect(up.seen[0]!.raw).not.toContain(':evil:')
  })

  it('replies may say them', async () => {
    const up = await origin(res => res.setHeader('X-Host', 'a').setHeader('X-Forwarded-Prefix', '/b').end())
    const { port } = await edge(pipeline().handle(proxy(testUpstream(up.url))))
    const { raw } = await get1(port, '/')
    expect([field(raw, 'x-host'), field(raw, 'x-forwarded-prefix')]).toEqual(['a', '/b'])
  })
})
