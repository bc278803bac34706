/** The certificate store before real clients: names, defaults, reload, what is kept when something is wrong. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline, reply } from '@postern/core'
import { describe, expect, test, vi } from 'vitest'
import { tlsOf } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { client, folder, get1, get2, secureEdge, store, until } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const ca = authority('Test root')
const leaf = (...names: string[]) => ca.issue({ names })
const hello = pipeline().handle(cx => {
  const facts = tlsOf(cx)!
  return reply(200, `${facts.protocol} ${facts.alpn} ${facts.serverName} ${facts.resumed}`)
})

async function shown(port: number, servername?: string): Promise<string> {
  const made = await client(port, servername === undefined ? {} : { servername })
  const { subjectaltname = '' } = made.socket.getPeerCertificate()
  made.socket.destroy()
  return subjectaltname.replaceAll('DNS:', '')
}

test('serves by exact name, by wildcard of one label, and the default for the rest', async () => {
  const { tls } = await store({
    pem: [leaf('default.example'), leaf('a.example'), leaf('*.a.example'), leaf('x.a.example')],
  })
  const { port } = await secureEdge(tls, hello)
  expect(await shown(port, 'a.example')).toBe('a.example')
  expect(await shown(port, 'A.EXAMPLE')).toBe('a.example')
  expect(await shown(port, 'b.a.example')).toBe('*.a.example')
  expect(await shown(port, 'x.a.example')).toBe('x.a.example')
  expect(await shown(port, 'y.b.a.example')).toBe('default.example')
  expect(await shown(port, 'other.example')).toBe('default.example')
  expect(await shown(port)).toBe('default.example')
  expect(tls.find('b.a.example')?.names).toEqual(['*.a.example'])
  expect(tls.find('z.example')).toBeNull()
  expect(JSON.stringify(tls.certificates)).not.toContain('PRIVATE')
  expect(Object.keys(tls.certificates[0]!)).not.toContain('keyPem')
})

test('can refuse names that nobody has, and take another default', async () => {
  const { tls } = await store({
    pem: [leaf('a.example'), leaf('b.example')],
    default: 'b.example',
    unknownNames: 'refuse',
  })
  const { port } = await secureEdge(tls, hello)
  expect(await shown(port)).toBe('b.example')
  expect(await shown(port, 'a.example')).toBe('a.example')
  await expect(shown(port, 'c.example')).rejects.toThrow()
})

test('speaks TLS 1.3 with h2 and http/1.1; 1.2 only when asked to, with forward secrecy', async () => {
  const pem = leaf('a.example')
  const { port } = await secureEdge((await store({ pem })).tls, hello)
  expect(await get1(port, 'a.example')).toBe('200 TLSv1.3 http/1.1 a.example false')
  expect(await get2(port, 'a.example', [{}])).toEqual(['200 TLSv1.3 h2 a.example false'])
  await expect(client(port, { maxVersion: 'TLSv1.2' })).rejects.toMatchObject({
    code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  })
  const older = await secureEdge((await store({ pem, minVersion: 'TLSv1.2' })).tls, hello)
  const { socket } = await client(older.port, { maxVersion: 'TLSv1.2' })
  expect(socket.getCipher().name).toMatch(/^ECDHE-ECDSA-.*(GCM|CHACHA20)/)
  await expect(
    client(older.port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' }),
  ).rejects.toThrow()
})

describe('folders', () => {
  test('match keys to certificates whatever the names, and complete chains', async () => {
    const dir = folder()
    const intermediate = ca.intermediate('Test intermediate')
    const [a, b, c] = [leaf('a.example'), intermediate.issue({ names: ['b.example'] }), leaf('c.example')]
    writeFileSync(join(dir, 'one.pem'), a.cert)
    writeFileSync(join(dir, 'two.key'), a.key)
    mkdirSync(join(dir, 'sub'))
    writeFileSync(join(dir, 'sub', 'x.crt'), b.cert)
    writeFileSync(join(dir, 'sub', 'privkey.pem'), b.key)
    writeFileSync(join(dir, 'ca.pem'), ca.cert)
    writeFileSync(join(dir, 'mid.pem'), intermediate.cert)
    writeFileSync(join(dir, 'both.pem'), c.key + c.cert)
    writeFileSync(join(dir, 'notes.txt'), 'nothing')
    const { tls, events } = await store({ dir })
    expect(tls.certificates.map(one => one.names.join()).sort()).toEqual([
      'a.example',
      'b.example',
      'c.example',
    ])
    expect(tls.find('b.example')?.chain).toHaveLength(2)
    expect(events).toEqual([])
    const { port } = await secureEdge(tls, hello)
    const { socket } = await client(port, { servername: 'b.example', ca: ca.cert, rejectUnauthorized: true })
    expect(socket.authorized).toBe(true)
  })

  test('skip and report what cannot be used', async () => {
    const dir = folder()
    const [a, b] = [leaf('a.example'), leaf('b.example')]
    writeFileSync(join(dir, 'a.pem'), a.cert + a.key)
    writeFileSync(join(dir, 'b.pem'), b.cert)
    writeFileSync(join(dir, 'broken.crt'), 'no pem')
    const { tls, events } = await store({ dir })
    expect(tls.certificates).toHaveLength(1)
    expect(events.map(event => event.message).sort()).toEqual([
      `${join(dir, 'b.pem')} is not used: there is no key for it in the folder`,
      `${join(dir, 'broken.crt')} is not used: it holds no PEM block`,
    ])
  })
})

describe('what cannot work is refused at the start', () => {
  const a = leaf('a.example')
  const cases: [what: string, options: Parameters<typeof store>[0], problem: RegExp][] = [
    ['nothing', {}, /names no certificate/],
    ['an unknown option', { pem: a, sniCallback: 1 } as never, /sniCallback: there is no such option/],
    [
      'a key of another certificate',
      { pem: { cert: a.cert, key: leaf('b.example').key } },
      /pem\[0\]: its key belongs to another/,
    ],
    [
      'a chain out of order',
      { pem: { cert: a.cert + leaf('b.example').cert, key: a.key } },
      /not signed by the one that follows/,
    ],
    ['no certificate in the text', { pem: { cert: 'x', key: a.key } }, /holds no certificate/],
    ['no key in the text', { pem: { cert: a.cert, key: 'x' } }, /its key cannot be read/],
    [
      'a client certificate',
      { pem: ca.issue({ names: ['a.example'], client: true }) },
      /not meant for servers/,
    ],
    ['a missing file', { files: { cert: '/nowhere/a.pem', key: '/nowhere/a.key' } }, /\/nowhere\/a.pem/],
    ['a missing folder', { dir: '/nowhere' }, /\/nowhere/],
    ['a default that nobody has', { pem: a, default: 'b.example' }, /default name b.example/],
    ['an old version', { pem: a, minVersion: 'TLSv1.1' as never }, /"TLSv1.1" is no choice/],
    [
      'a policy without authorities',
      { pem: a, clients: { '*': { mode: 'required', ca: '' } } },
      /clients\.\*\.ca: 0 authorities/,
    ],
    [
      'a policy with an empty list',
      { pem: a, clients: { '*': { mode: 'required', ca: ca.cert, allow: {} } } },
      /nobody could come in/,
    ],
    [
      'a policy for no name',
      { pem: a, clients: { 'https://a': { mode: 'required', ca: ca.cert } } },
      /is no server name/,
    ],
  ]
  test.each(cases)('%s', async (_what, options, problem) => {
    const failure = store(options)
    await expect(failure).rejects.toThrow(problem)
    await expect(failure).rejects.toMatchObject({ name: 'ConfigError' })
    await expect(failure).rejects.not.toThrow(/PRIVATE KEY/)
  })
})

describe('reload', () => {
  test('by call: swapped at once, connections go on', async () => {
    let current = leaf('a.example')
    const { tls } = await store({ load: () => [current] })
    const { port } = await secureEdge(tls, hello)
    const before = await client(port, { servername: 'a.example', ALPNProtocols: ['http/1.1'] })
    current = ca.issue({ names: ['a.example', 'new.example'] })
    expect(await tls.reload()).toBe(true)
    expect(await shown(port, 'a.example')).toBe('a.example, new.example')
    expect(await shown(port)).toBe('a.example, new.example')
    before.socket.write('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n')
    expect(await before.rest()).toContain('200 OK')
  })

  test('keeps the last good set when a source fails or gives nonsense', async () => {
    let give: () => unknown = () => [leaf('a.example')]
    const { tls, events } = await store({ load: () => give() as never })
    const { port } = await secureEdge(tls, hello)
    for (const wrong of [
      () => {
        throw new Error('vault is sealed')
      },
      () => [],
      () => [{ cert: leaf('a.example').cert, key: leaf('a.example').key }],
      () => [{ cert: 'x', key: 'y' }],
    ]) {
      give = wrong
      expect(await tls.reload()).toBe(false)
      expect(await shown(port, 'a.example')).toBe('a.example')
      expect(tls.problems()[0]).toMatch(/were not reloaded/)
      expect(tls.isReady()).toBe(true)
    }
    expect(events.filter(event => event.kind === 'reload-failed')).toHaveLength(4)
    give = () => [leaf('b.example')]
    expect(await tls.reload()).toBe(true)
    expect(tls.problems()).toEqual([])
  })

  test('by watching: a half-written renewal changes nothing until it is whole', async () => {
    const dir = folder()
    const first = leaf('a.example')
    writeFileSync(join(dir, 'cert.pem'), first.cert)
    writeFileSync(join(dir, 'key.pem'), first.key)
    const { tls, events } = await store({ dir, watch: 50 })
    const { port } = await secureEdge(tls, hello)
    const second = ca.issue({ names: ['a.example', 'second.example'] })
    writeFileSync(join(dir, 'cert.pem'), second.cert)
    await until('the half is seen', () => events.some(event => event.kind === 'skipped'))
    expect(await shown(port, 'a.example')).toBe('a.example')
    writeFileSync(join(dir, 'key.pem'), second.key)
    await until('the whole is seen', async () => (await shown(port, 'a.example')).includes('second.example'))
    expect(tls.certificates).toHaveLength(1)
  })

  test('by watching: a folder that is swapped by a link, as Kubernetes does', async () => {
    const dir = folder()
    const write = (name: string, made: { cert: string; key: string }): void => {
      mkdirSync(join(dir, name))
      writeFileSync(join(dir, name, 'tls.crt'), made.cert)
      writeFileSync(join(dir, name, 'tls.key'), made.key)
    }
    write('..one', leaf('a.example'))
    symlinkSync('..one', join(dir, '..data'))
    symlinkSync(join('..data', 'tls.crt'), join(dir, 'tls.crt'))
    symlinkSync(join('..data', 'tls.key'), join(dir, 'tls.key'))
    const { tls } = await store({ dir, watch: 50 })
    expect(tls.find('a.example')).not.toBeNull()
    write('..two', leaf('b.example'))
    symlinkSync('..two', join(dir, '..new'))
    renameSync(join(dir, '..new'), join(dir, '..data'))
    await until('the swap is seen', () => tls.find('b.example') !== null)
    expect(tls.find('a.example')).toBeNull()
  })

  test('by watching pairs of files', async () => {
    const dir = folder()
    const paths = { cert: join(dir, 'c.pem'), key: join(dir, 'k.pem') }
    const write = (made: { cert: string; key: string }): void => {
      writeFileSync(paths.key, made.key)
      writeFileSync(paths.cert, made.cert)
    }
    write(leaf('a.example'))
    const { tls, events } = await store({ files: paths, watch: 50 })
    write(leaf('b.example'))
    await until('the change is seen', () => tls.find('b.example') !== null)
    rmSync(paths.key)
    await until('the loss is told', () => events.some(event => event.kind === 'reload-failed'))
    expect(tls.find('b.example')).not.toBeNull()
    write(leaf('c.example'))
    await until('all is well again', () => tls.find('c.example') !== null && tls.problems().length === 0)
  })
})

test('contexts are made when they are asked for, and no more are kept than allowed', async () => {
  const pem = Array.from({ length: 12 }, (_, i) => leaf(`n${i}.example`))
  const { tls } = await store({ pem, maxContexts: 2 })
  const { port } = await secureEdge(tls, hello)
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 12; i++) expect(await shown(port, `n${i}.example`)).toBe(`n${i}.example`)
  }
})

describe('dates', () => {
  const DAY = 86_400_000
  test('an ended certificate is reported once a day, served for want of a better one, and not ready', async () => {
    let now = Date.now()
    const pem = ca.issue({ names: ['a.example'], to: now + 30 * DAY })
    const { tls, events } = await store({ pem, clock: () => now, tickets: false })
    expect([tls.isReady(), tls.problems(), events]).toEqual([true, [], []])
    now += 25 * DAY
    await tls.reload()
    await tls.reload()
    expect(events.filter(event => event.kind === 'expiring')).toHaveLength(1)
    expect(tls.problems()).toEqual(['the certificate of pem[0] ends soon'])
    now += 6 * DAY
    await tls.reload()
    expect(events.filter(event => event.kind === 'expired')).toHaveLength(1)
    expect([tls.isReady(), tls.find('a.example') !== null]).toEqual([false, true])
  })

  test('of two for one name, the valid one and then the one that lasts longer is served', async () => {
    const now = Date.now()
    const short = ca.issue({ names: ['a.example'], to: now + DAY })
    const long = ca.issue({ names: ['a.example'], to: now + 2 * DAY })
    const future = ca.issue({ names: ['a.example'], from: now + DAY, to: now + 9 * DAY })
    const { tls, events } = await store({ pem: [short, long, future] })
    const { port } = await secureEdge(tls, hello)
    expect(tls.find('a.example')?.source).toBe('pem[1]')
    expect(events.filter(event => event.source !== 'pem[1]')).toEqual([])
    expect(await shown(port, 'a.example')).toBe('a.example')
  })
})

test('with one certificate no handshake asks by name; with a second one they do, and back', async () => {
  const [one, two] = [ca.issue({ names: ['one.test'] }), ca.issue({ names: ['two.test'] })]
  let given = [one]
  const { tls } = await store({ load: () => given })
  const { port, server } = await secureEdge(tls, hello)
  const place = Object.getOwnPropertySymbols(server).find(symbol => symbol.description === 'snicallback')!
  const asks = (): boolean => (server as unknown as Record<symbol, unknown>)[place] !== undefined
  const shown = async (servername: string): Promise<string> => {
    const { socket } = await client(port, { servername })
    const { CN } = socket.getPeerCertificate().subject
    socket.destroy()
    return String(CN)
  }
  expect([asks(), await shown('one.test'), await shown('two.test')]).toEqual([false, 'one.test', 'one.test'])
  given = [one, two]
  await tls.reload()
  expect([asks(), await shown('one.test'), await shown('two.test')]).toEqual([true, 'one.test', 'two.test'])
  given = [two]
  await tls.reload()
  expect([asks(), await shown('one.test'), await shown('two.test')]).toEqual([false, 'two.test', 'two.test'])
})

test("somebody else's choice is never taken away", async () => {
  const { tls } = await store({ pem: ca.issue({ names: ['one.test'] }) })
  const asked: string[] = []
  const SNICallback = (name: string, done: (error: null) => void): void => {
    asked.push(name)
    done(null)
  }
  const { port } = await secureEdge(tls, hello, { SNICallback })
  await client(port, { servername: 'one.test' })
  expect(asked).toEqual(['one.test'])
})
