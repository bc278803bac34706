/** B066 and how targets are reached: names, addresses, Unix sockets, certificates, connections opened in advance. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type GroupEvent,
  pipeline,
  proxy,
  type ResolvedAddress,
  type UpstreamOptions,
  upstream,
} from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { get1 } from './support/clients.ts'
import { edge, listen, origin, testUpstream, until } from './support/servers.ts'

const hasIPv6 = Object.values(networkInterfaces()).some(list => list?.some(one => one.address === '::1'))

async function through(
  target: string,
  options: Partial<UpstreamOptions> = {},
  host: 'preserve' | 'target' = 'target',
) {
  const group = testUpstream(target, options)
  return { group, ...(await edge(pipeline().handle(proxy(group, { host })))) }
}

/** A server on one address, that says which it is and which Host it was asked for. */
async function on(address: string, port = 0): Promise<{ port: number; server: Server }> {
  const server = createServer((req, res) => res.end(`${address} ${req.headers.host}`))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: address, port, ipv6Only: address.includes(':') }, resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, server }
}

describe('B066: localhost and IPv6', () => {
  it('localhost reaches a listener on IPv4 alone', async () => {
    const { port } = await on('127.0.0.1')
    const edged = await through(`http://localhost:${port}`)
    const { status, body } = await get1(edged.port, '/')
    expect([status, body.includes(`127.0.0.1 localhost:${port}`)]).toEqual([200, true])
  })

  it.skipIf(!hasIPv6)('localhost reaches a listener on IPv6 alone', async () => {
    const { port } = await on('::1')
    const edged = await through(`http://localhost:${port}`)
    expect((await get1(edged.port, '/')).body).toContain(`::1 localhost:${port}`)
  })

  it.skipIf(!hasIPv6)('a literal has brackets in Host', async () => {
    const { port } = await on('::1')
    const edged = await through(`http://[::1]:${port}`)
    expect((await get1(edged.port, '/')).body).toContain(`::1 [::1]:${port}`)
  })
})

describe('addresses of a name', () => {
  /** A resolver that the test answers for. */
  function names(...first: string[]) {
    const state = { addresses: first as string[] | 'fails', asked: 0 }
    const resolver = async (): Promise<ResolvedAddress[]> => {
      state.asked++
      if (state.addresses === 'fails') throw new Error('no answer')
      return state.addresses.map(address => ({ address, ttl: 0 }))
    }
    return { state, dns: { resolver, interval: 50, minimum: 10 } }
  }
  const labels = (group: { stats(): { targets: readonly { target: string }[] } }): string =>
    group
      .stats()
      .targets.map(one => one.target.replace(/^.*#/, ''))
      .join()

  it('are targets of their own, asked for again while it runs', async () => {
    const { port } = await on('127.0.0.1')
    await on('127.0.0.2', port)
    await on('127.0.0.3', port)
    const { state, dns } = names('127.0.0.1', '127.0.0.2')
    const events: GroupEvent[] = []
    const edged = await through(`http://app.test:${port}`, { dns, onChange: event => events.push(event) })
    await until('they are known', () => labels(edged.group) === '127.0.0.1,127.0.0.2')
    const seen = new Set<string>()
    for (let i = 0; i < 4; i++)
      seen.add((await get1(edged.port, '/')).body.match(/127\.0\.0\.\d app\.test:\d+/)![0])
    expect([...seen].sort()).toEqual([`127.0.0.1 app.test:${port}`, `127.0.0.2 app.test:${port}`])

    state.addresses = ['127.0.0.3', '127.0.0.2']
    await until('they have changed', () => labels(edged.group) === '127.0.0.2,127.0.0.3')
    for (let i = 0; i < 4; i++) expect((await get1(edged.port, '/')).body).not.toContain('127.0.0.1 ')
    // What stays is the same target, with its counters.
    expect(edged.group.stats().targets[0]!.requests).toBeGreaterThan(2)
    expect(events.map(event => event.kind === 'target' && [event.to, event.reason])).toEqual([
      ['up', 'name-resolved'],
      ['up', 'name-resolved'],
      ['absent', 'name-resolved'],
      ['up', 'name-resolved'],
      ['absent', 'name-resolved'],
    ])
  })

  it('stay when nobody answers', async () => {
    const { port } = await on('127.0.0.1')
    const { state, dns } = names('127.0.0.1')
    const events: GroupEvent[] = []
    const edged = await through(`http://app.test:${port}`, { dns, onChange: event => events.push(event) })
    await until('it is known', () => labels(edged.group) === '127.0.0.1')
    state.addresses = 'fails'
    await until('it failed twice', () => events.filter(event => event.kind === 'dns-failed').length >= 2)
    state.addresses = []
    const { asked } = state
    await until('it was empty twice', () => state.asked > asked + 2)
    expect((await get1(edged.port, '/')).status).toBe(200)
    expect(labels(edged.group)).toBe('127.0.0.1')
  })

  it('a dead one among them costs no request', async () => {
    const { port } = await on('127.0.0.1')
    const { dns } = names('127.0.0.1', '127.0.0.9')
    const edged = await through(`http://app.test:${port}`, { dns })
    await until('they are known', () => labels(edged.group).includes('127.0.0.9'))
    for (let i = 0; i < 6; i++) expect((await get1(edged.port, '/')).status).toBe(200)
  })

  it('before the first answer the name itself is used; a name that nobody knows is 502', async () => {
    const { port } = await on('127.0.0.1')
    const never = { resolver: () => new Promise<never>(() => {}), interval: 1000 }
    const known = await through(`http://localhost:${port}`, { dns: never })
    expect((await get1(known.port, '/')).status).toBe(200)
    const unknown = await through(`http://nobody.invalid:${port}`, { dns: never })
    expect((await get1(unknown.port, '/')).status).toBe(502)
  })

  it("the system's resolver finds localhost", async () => {
    const { port } = await on('127.0.0.1')
    const edged = await through(`http://localhost:${port}`, { dns: true })
    await until('it is known', () => labels(edged.group).includes('127.0.0.1'))
    for (let i = 0; i < 3; i++) expect((await get1(edged.port, '/')).status).toBe(200)
  })

  it('draining holds for addresses that come later', async () => {
    const { port } = await on('127.0.0.1')
    const { state, dns } = names('127.0.0.1')
    const edged = await through(`http://app.test:${port}`, { dns })
    await until('it is known', () => labels(edged.group) === '127.0.0.1')
    await edged.group.drain(`http://app.test:${port}`)
    state.addresses = ['127.0.0.2']
    await until('it is another', () => labels(edged.group) === '127.0.0.2')
    expect(edged.group.stats().targets[0]!.state).toBe('draining')
    await edged.group.remove(`http://app.test:${port}`)
    const { asked } = state
    await new Promise(resolve => setTimeout(resolve, 150))
    expect(state.asked).toBe(asked)
  })
})

describe('Unix sockets', () => {
  it('carry requests, with a base path and checks', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'postern-'))
    const path = join(dir, 'app.sock')
    const targets: string[] = []
    const server = createServer((req, res) => {
      targets.push(req.url!)
      res.end(`over a socket, for ${req.headers.host}`)
    })
    await new Promise<void>(resolve => server.listen(path, resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
      rmSync(dir, { recursive: true })
    })
    const { port, group } = await through(`unix:${path}:/base`, {
      health: { check: { path: '/h', interval: 20 } },
    })
    expect((await get1(port, '/x?y')).body).toContain('over a socket, for localhost')
    expect(targets).toContain('/base/x?y')
    await until('it is up', () => group.stats().targets[0]!.state === 'up')
    expect(targets).toContain('/base/h')
  })

  it('that are not there are 502', async () => {
    const { port } = await through(`unix:${join(tmpdir(), 'nobody-listens.sock')}`)
    const { status, body } = await get1(port, '/')
    expect([status, body]).toEqual([502, expect.stringContaining('connect refused')])
  })
})

describe('TLS to targets', () => {
  /** A CA, and a client certificate that it signed. */
  function clientCertificate(): { ca: string; cert: string; key: string } {
    const dir = mkdtempSync(join(tmpdir(), 'postern-'))
    const at = (name: string): string => join(dir, name)
    const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' })
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    openssl(
      'req',
      '-x509',
      ...ec,
      '-days',
      '2',
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
      '-subj',
      '/CN=clients',
    )
    openssl('req', ...ec, '-keyout', at('key.pem'), '-out', at('csr.pem'), '-subj', '/CN=edge')
    openssl(
      'x509',
      '-req',
      '-in',
      at('csr.pem'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
      '-days',
      '2',
      '-out',
      at('cert.pem'),
    )
    const made = { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' }
    const read = Object.entries(made).map(([name, file]) => [name, readFileSync(at(file), 'utf8')])
    rmSync(dir, { recursive: true })
    return Object.fromEntries(read)
  }

  it('shows a client certificate, and asks for the name that it is told', async () => {
    const server = certificate()
    const client = clientCertificate()
    const names: (string | false | undefined)[] = []
    const up = createSecure(
      { ...server, ca: client.ca, requestCert: true, rejectUnauthorized: true },
      (req, res) => {
        const socket = req.socket as TLSSocket
        names.push((socket as { servername?: string | false }).servername)
        res.end(`for ${socket.getPeerCertificate().subject.CN}`)
      },
    )
    const port = await listen(up)
    onTestFinished(() => {
      up.closeAllConnections()
      up.close()
    })
    const tls = { ca: server.cert, cert: client.cert, key: client.key, servername: 'localhost' }
    const good = await through(`https://127.0.0.1:${port}`, { tls }, 'preserve')
    expect((await get1(good.port, '/', [], 'other.test')).body).toContain('for edge')
    expect(names).toEqual(['localhost'])
    const without = await through(`https://127.0.0.1:${port}`, { tls: { ca: server.cert } })
    expect((await get1(without.port, '/')).status).toBe(502)
    const wrong = await through(`https://127.0.0.1:${port}`, { tls: { ...tls, servername: 'other.test' } })
    expect((await get1(wrong.port, '/')).body).toContain('tls failed')
  })

  it('a certificate that does not fit its key is refused at once', () => {
    const client = clientCertificate()
    const make = (tls: UpstreamOptions['tls']) => () =>
      upstream({ name: 'x', targets: ['https://a.test'], ...(tls && { tls }) })
    expect(make({ cert: client.cert, key: certificate().key })).toThrow(/tls\.cert: it does not fit/)
    expect(make({ cert: client.cert, key: client.key })).not.toThrow()
  })

  it('a name in DNS keeps its certificate: the address is only where it is', async () => {
    const { key, cert } = certificate()
    const names: unknown[] = []
    const up = createSecure({ key, cert }, (req, res) => {
      names.push((req.socket as { servername?: string }).servername)
      res.end('secure')
    })
    const port = await listen(up)
    onTestFinished(() => {
      up.closeAllConnections()
      up.close()
    })
    const dns = { resolver: async () => [{ address: '127.0.0.1' }] }
    const right = await through(`https://localhost:${port}`, { tls: { ca: cert }, dns })
    await until('it is known', () => right.group.stats().targets[0]!.target.endsWith('#127.0.0.1'))
    expect((await get1(right.port, '/')).body).toContain('secure')
    expect(names).toEqual(['localhost'])
    const wrong = await through(`https://app.test:${port}`, { tls: { ca: cert }, dns })
    await until('it is known', () => wrong.group.stats().targets[0]!.target.endsWith('#127.0.0.1'))
    expect((await get1(wrong.port, '/')).body).toContain('tls failed')
  })
})

describe('connections opened in advance', () => {
  it('are there before the first request, which uses them', async () => {
    const up = await origin(res => res.end('x'))
    let connections = 0
    up.server.on('connection', () => connections++)
    const { port, group } = await through(up.url, { warm: 3 })
    await until(
      'three are open',
      () => group.stats().targets[0]!.connections!.open === 3 && connections === 3,
    )
    for (let i = 0; i < 5; i++) expect((await get1(port, '/')).status).toBe(200)
    expect(connections).toBe(3)
  })

  it('over TLS too', async () => {
    const { key, cert } = certificate()
    let handshakes = 0
    const up = createSecure({ key, cert }, (_req, res) => res.end('x'))
    up.on('secureConnection', () => handshakes++)
    const port = await listen(up)
    onTestFinished(() => {
      up.closeAllConnections()
      up.close()
    })
    const edged = await through(`https://localhost:${port}`, { warm: 2, tls: { ca: cert } })
    await until(
      'two are open',
      () => edged.group.stats().targets[0]!.connections!.open === 2 && handshakes === 2,
    )
    for (let i = 0; i < 3; i++) expect((await get1(edged.port, '/')).status).toBe(200)
    expect(handshakes).toBe(2)
  })

  it('that the upstream closed or spoke on are not used', async () => {
    const up = await origin(res => res.end('x'))
    const sockets: { destroy(): void; write(text: string): void }[] = []
    up.server.on('connection', socket => sockets.push(socket))
    const { port, group } = await through(up.url, { warm: 2 })
    await until(
      'two are open',
      () => group.stats().targets[0]!.connections!.open === 2 && sockets.length === 2,
    )
    sockets[0]!.destroy()
    sockets[1]!.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
    await until('none is left', () => group.stats().targets[0]!.connections!.open === 0)
    const { status, body } = await get1(port, '/')
    expect([status, body.includes('poison')]).toEqual([200, false])
  })

  it('that nobody takes are closed in time, and with the group', async () => {
    const up = await origin(res => res.end('x'))
    let open = 0
    up.server.on('connection', socket => {
      open++
      socket.on('close', () => open--)
    })
    await through(up.url, { warm: 2, keepAlive: 100 })
    await until('two are open', () => open === 2)
    await until('they are closed', () => open === 0)
    const { group } = await through(up.url, { warm: 2 })
    await until('two are open', () => open === 2)
    await group.close()
    await until('they are closed', () => open === 0)
  })
})
