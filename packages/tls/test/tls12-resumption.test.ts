/** Resumed connections of TLS 1.2: Node tells no server name there, and the policy of a client certificate depends on it. */
import { createServer as createHttps } from 'node:https'
import type { Server as TcpServer } from 'node:net'
import { attach, pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CertificateStore,
  inspect,
  listen as listenOnOne,
  type TicketKeyProvider,
  ticketKeys,
  tlsOf,
} from '../src/index.ts'
import { authority } from './support/authority.ts'
import { client, get1, listen, store } from './support/servers.ts'

vi.setConfig({ testTimeout: 60_000 })

const [rootA, rootB, serverCa] = [authority('Clients A'), authority('Clients B'), authority('Server root')]
const alice = shown(rootA.issue({ subject: 'alice', client: true }))
const bob = shown(rootB.issue({ subject: 'bob', client: true }))
const pem = ['open.test', 'a.test', 'b.test', 'maybe.test'].map(name => serverCa.issue({ names: [name] }))
const clients = {
  'a.test': { mode: 'required', ca: rootA.cert },
  'b.test': { mode: 'required', ca: rootB.cert },
  'maybe.test': { mode: 'optional', ca: rootA.cert },
} as const

/** Who it is, whether a ticket did it, and the name that both TLS and core know. */
const who = pipeline().handle(cx => {
  const { client, resumed, serverName } = tlsOf(cx)!
  const same = serverName === cx.request.peer.serverName
  return reply(200, `${client?.subject ?? 'nobody'} ${resumed} ${same ? serverName : 'two names'}`)
})

type Door = (tls: CertificateStore) => Promise<number>

async function ownServer(tls: CertificateStore, looks: boolean): Promise<number> {
  const server = createHttps(tls.serverOptions({ protocols: ['http/1.1'] })) as unknown as TcpServer
  if (looks) inspect(server)
  const attached = attach(server, who)
  tls.protect(server)
  onTestFinished(() => attached.drain(0))
  return listen(server)
}

const front: Door = async tls => {
  const made = await listenOnOne(tls, who, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => made.drain(0))
  return made.port
}
const inspected: Door = tls => ownServer(tls, true)
const bare: Door = tls => ownServer(tls, false)

async function open(door: Door, more: object = {}) {
  const { tls } = await store({ pem, clients, minVersion: 'TLSv1.2', ...more })
  return { tls, port: await door(tls) }
}

type Version = 'TLSv1.2' | 'TLSv1.3'

/** A session of one name is shown at another, or the same. */
async function replay(
  ports: readonly [number, number],
  maxVersion: Version,
  [from, first]: readonly [string, object],
  [to, then]: readonly [string, object],
): Promise<string> {
  const options = { servername: from, ALPNProtocols: ['http/1.1'], maxVersion, ...first }
  const made = await client(ports[0], options, true)
  made.socket.destroy()
  return get1(ports[1], to, { maxVersion, session: made.session!, ...then })
}

const versions: Version[] = ['TLSv1.2', 'TLSv1.3']

describe.each([
  ['listen()', front],
  ['https with inspect()', inspected],
] as const)('%s: every ClientHello is known', (_what, door) => {
  test.each(versions)('%s: a ticket opens its own name', async version => {
    const { port, tls } = await open(door)
    const again = (name: string, with_: object) => replay([port, port], version, [name, with_], [name, with_])
    expect(await again('open.test', {})).toBe('200 nobody true open.test')
    expect(await again('a.test', alice)).toBe('200 CN=alice true a.test')
    expect(await again('b.test', bob)).toBe('200 CN=bob true b.test')
    expect(await again('maybe.test', {})).toBe('200 nobody true maybe.test')
    expect(await again('maybe.test', alice)).toBe('200 CN=alice true maybe.test')
    expect(tls.counts).toMatchObject({ resumed: 5, refused: 0, failed: 0 })
  })

  const cases: [from: readonly [string, object], to: readonly [string, object], answer: string][] = [
    [['open.test', {}], ['a.test', {}], 'closed'],
    [['open.test', {}], ['a.test', alice], 'closed'],
    [['open.test', {}], ['maybe.test', alice], '200 nobody true maybe.test'],
    [['maybe.test', {}], ['a.test', alice], 'closed'],
    [['b.test', bob], ['a.test', bob], 'closed'],
    [['b.test', bob], ['maybe.test', bob], 'closed'],
    // The other way: a name without a policy knows nobody, whatever the ticket holds.
    [['a.test', alice], ['open.test', alice], '200 nobody true open.test'],
    // The certificate fits here too, and its key was proved.
    [['a.test', alice], ['maybe.test', {}], '200 CN=alice true maybe.test'],
  ]
  test.each(versions)('%s: a ticket is worth what its certificate is worth', async version => {
    for (const [from, to, answer] of cases) {
      const { port } = await open(door)
      expect(await replay([port, port], version, from, to), `${from[0]} -> ${to[0]}`).toBe(answer)
    }
  })

  test('TLSv1.2: no name and a wrong Host lead to no other door', async () => {
    const { port } = await open(door)
    const first = await client(
      port,
      { servername: 'a.test', ALPNProtocols: ['http/1.1'], maxVersion: 'TLSv1.2', ...alice },
      true,
    )
    for (const servername of ['', 'open.test', 'maybe.test']) {
      const made = await client(port, { servername, maxVersion: 'TLSv1.2', session: first.session! })
      expect(made.socket.isSessionReused()).toBe(true)
      made.socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
      expect(await made.rest(), servername).toMatch(/^HTTP\/1\.1 421 /)
    }
  })
})

describe('https whose ClientHellos nobody looks at', () => {
  test.each(versions)('%s: policies by name cost resumption, and no request', async version => {
    const { port, tls } = await open(bare)
    const again = (name: string, with_: object) => replay([port, port], version, [name, with_], [name, with_])
    expect(await again('open.test', {})).toBe('200 nobody false open.test')
    expect(await again('a.test', alice)).toBe('200 CN=alice false a.test')
    expect(await again('maybe.test', alice)).toBe('200 CN=alice false maybe.test')
    expect(await replay([port, port], version, ['open.test', {}], ['a.test', {}])).toBe('closed')
    expect(tls.counts).toMatchObject({ resumed: 0, failed: 0 })
  })

  test('a ticket of a front with the same keys is not taken', async () => {
    const tickets: TicketKeyProvider = ticketKeys({ secret: Buffer.alloc(32, 7) })
    const [one, two] = [await open(front, { tickets }), await open(bare, { tickets })]
    const ports = [one.port, two.port] as const
    for (const version of versions) {
      const answer = await replay(ports, version, ['a.test', alice], ['a.test', alice])
      expect(answer).toBe('200 CN=alice false a.test')
    }
  })

  test('one policy for all names, none, and TLS 1.3 alone resume as ever', async () => {
    const all = await open(bare, { clients: { '*': { mode: 'required', ca: rootA.cert } } })
    const none = await open(bare, { clients: {} })
    const newest = await open(bare, { minVersion: 'TLSv1.3' })
    for (const version of versions) {
      const own = (port: number) => replay([port, port], version, ['a.test', alice], ['a.test', alice])
      expect(await own(all.port)).toMatch(/^200 CN=alice true/)
      expect(await own(none.port)).toMatch(/^200 nobody true/)
    }
    const own = [newest.port, newest.port] as const
    expect(await replay(own, 'TLSv1.3', ['a.test', alice], ['a.test', alice])).toMatch(/^200 CN=alice true/)
  })

  test('policies that come with a reload stop resumption, and let it be again when they go', async () => {
    let table: object = {}
    const { tls, port } = await open(bare, { clients: () => table })
    const own = () => replay([port, port], 'TLSv1.2', ['a.test', alice], ['a.test', alice])
    expect(await own()).toMatch(/^200 nobody true/)
    const before = await client(port, { servername: 'open.test', maxVersion: 'TLSv1.2' }, true)
    table = clients
    expect(await tls.reload()).toBe(true)
    expect(await own()).toBe('200 CN=alice false a.test')
    const later = { maxVersion: 'TLSv1.2', session: before.session! } as const
    expect(await get1(port, 'a.test', later)).toBe('closed')
    table = {}
    expect(await tls.reload()).toBe(true)
    expect(await own()).toMatch(/^200 nobody true/)
  })
})

function shown({ cert, key }: { cert: string; key: string }): { cert: string; key: string } {
  return { cert, key }
}
