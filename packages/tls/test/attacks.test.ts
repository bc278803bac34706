/** What somebody tries who wants past the gate. Each attack was first run against the front as it was. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect as connectH2 } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { acme, clientIdentity, type ListenOptions, listen, memoryStorage } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { chromeHello, splitRecords } from './support/hello.ts'
import { client, folder, get1, get2, listen as listenOn, restOf, store, until } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const ca = authority('Root')
const middle = ca.intermediate('Middle')
const pem = [ca.issue({ names: ['a.test'] }), ca.issue({ names: ['b.test'] })]
const who = pipeline().handle(cx => reply(200, `${cx.request.peer.address} ${cx.request.authority}`))

async function front(options: Partial<ListenOptions> = {}, app = who, more: object = {}) {
  const { tls } = await store({ pem, ...more })
  const made = await listen(tls, app, { port: 0, host: '127.0.0.1', helloTimeout: 2000, ...options })
  onTestFinished(() => made.drain(0))
  return made
}

/** Sends pieces, each in a packet of its own, and reads until the other side closes. */
async function send(port: number, pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  const answer = restOf(socket)
  for (const piece of pieces) {
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  return answer
}

const GET = 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'

describe('the PROXY protocol', () => {
  const trusting = { proxyProtocol: { trust: ['loopback'] }, cleartext: who }
  const v1 = (address: string): string => `PROXY TCP4 ${address} 198.51.100.7 5000 443\r\n`
  const v2 = (address: number[], tlvs: Buffer = Buffer.alloc(0)): Buffer => {
    const head = Buffer.from('0d0a0d0a000d0a515549540a2111', 'hex')
    const block = Buffer.from([...address, 198, 51, 100, 7, 0x13, 0x88, 1, 0xbb])
    const size = Buffer.from([(block.length + tlvs.length) >> 8, (block.length + tlvs.length) & 0xff])
    return Buffer.concat([head, size, block, tlvs])
  }

  test('a second header, of the client itself, is never believed', async () => {
    const { port } = await front(trusting)
    for (const forged of [v1('203.0.113.1'), v2([203, 0, 113, 1])]) {
      const answer = await send(port, [v1('192.0.2.9'), forged, GET])
      expect(answer).not.toContain('203.0.113.1')
      expect(answer).not.toContain('200 OK')
    }
    expect(await send(port, [v1('192.0.2.9') + GET])).toContain('192.0.2.9 a.test')
  })

  test('a header in pieces, with many TLVs, tells the same; one that is too long tells nothing', async () => {
    const { port, counts } = await front(trusting)
    const tlvs = Buffer.concat(Array.from({ length: 300 }, () => Buffer.from([0xe0, 0, 4, 1, 2, 3, 4])))
    const header = v2([192, 0, 2, 9], tlvs)
    const bytes = Array.from({ length: 40 }, (_, i) => header.subarray(i, i + 1))
    expect(await send(port, [...bytes, header.subarray(40), GET])).toContain('192.0.2.9 a.test')
    for (const long of [
      v2([192, 0, 2, 9], Buffer.alloc(5000)),
      Buffer.from(`PROXY TCP4 192.0.2.9 ${' '.repeat(100)}\r\n`),
      Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}\r\n`),
    ]) {
      expect(await send(port, [long, GET])).toBe('')
    }
    expect(counts.malformed).toBe(3)
  })

  test('half a header, or a header and nothing, holds no place', async () => {
    const { port, counts, server } = await front({ ...trusting, helloTimeout: 200 })
    await Promise.all([send(port, ['PROXY TCP4 1']), send(port, [v1('192.0.2.9')]), send(port, [])])
    expect(counts.timedOut).toBe(3)
    await until('all are gone', async () => {
      const open = await new Promise<number>(resolve => server.getConnections((_e, count) => resolve(count)))
      return open === 0
    })
  })

  test('without trust it is rubbish, over TLS too', async () => {
    const { port } = await front({ cleartext: who })
    for (const header of [v1('192.0.2.9'), v2([192, 0, 2, 9])]) {
      expect(await send(port, [header, GET])).not.toContain('200 OK')
      expect(await send(port, [header, chromeHello('a.test')])).not.toContain('192.0.2.9')
    }
  })
})

describe('the redirect', () => {
  const location = (answer: string): string | null => /\r\nlocation: (.*)\r\n/i.exec(answer)?.[1] ?? null

  test('leads to the host that was asked for, or nowhere', async () => {
    const { port } = await front()
    for (const [target, host] of [
      ['/', 'a.test@evil.example'],
      ['/', 'evil.example/..'],
      ['/', 'evil.example#'],
      ['/', 'evil.example\\'],
      ['/', 'a.test:80:80'],
      ['/', 'a.test:99999'],
      ['/', '[::1'],
      ['/', 'a.test%0d%0aX: y'],
      ['/', 'a.test\r\nHost: evil.example'],
      ['/', 'a.test\r\n evil.example'],
      ['/', '\u00e4.test'],
      ['http://a.test@evil.example/', 'a.test'],
      ['//evil.example', 'a.test@x'],
    ]) {
      const answer = await send(port, [
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ])
      expect(answer, `${target} ${host}`).toMatch(/^HTTP\/1\.1 400 |^$/)
    }
    for (const target of [
      '//evil.example',
      '/\\evil.example',
      '/@evil.example',
      '/%0d%0aX:y',
      '/?u=//evil.example',
    ]) {
      const answer = await send(port, [`GET ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`])
      const place = location(answer)
      if (place !== null) expect(new URL(place).host, target).toBe('a.test')
      expect(answer.split('\r\n').filter(line => /^x:/i.test(line))).toEqual([])
    }
  })

  test('over h2c the same', async () => {
    const { port } = await front()
    const session = connectH2(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    for (const [authority, path] of [
      ['a.test@evil.example', '/'],
      ['evil.example/x', '/'],
      ['a.test', '//evil.example/'],
      ['a.test', '/\\evil.example'],
    ] as const) {
      const place = await new Promise<string | null>(resolve => {
        const stream = session.request({ ':authority': authority, ':path': path })
        stream.on('response', head => resolve((head.location as string | undefined) ?? null))
        stream.on('error', () => resolve(null))
        stream.on('close', () => resolve(null))
        stream.resume()
      })
      if (place !== null) expect(new URL(place).host).toBe('a.test')
    }
  })
})

describe('the relay', () => {
  test('never goes where a client says: only names of the table, only to its targets', async () => {
    const reached: string[] = []
    const inside = createServer((socket: Socket) => {
      reached.push('inside')
      socket.destroy()
    })
    const target = await listenOn(inside)
    onTestFinished(() => void inside.close())
    const { port, counts } = await front({ relay: { 'c.test': { host: '127.0.0.1', port: target } } })
    for (const name of [
      'localhost',
      '127.0.0.1',
      `127.0.0.1.nip.io`,
      'metadata.google.internal',
      'x.c.test',
      'c.test.evil',
      'ac.test',
    ]) {
      await send(port, [chromeHello(name)]).catch(() => '')
    }
    expect([reached, counts.relayed]).toEqual([[], 0])
    for (const name of ['c.test', 'C.TEST', 'c.test.']) await send(port, [chromeHello(name)])
    await until('the table counts', () => reached.length === 3)
  })

  test('a name with a NUL, a space, two names or none of ours is nothing', async () => {
    const { port, counts } = await front({ relay: { '*': { host: '127.0.0.1', port: 1 } } })
    const bad = [
      'c.test\0.evil',
      'c test',
      '-c.test',
      'c..test',
      '',
      'x'.repeat(300),
      'c.test:443',
      '\u00e4.test',
    ]
    for (const name of bad) expect(await send(port, [chromeHello(name)])).toBe('')
    expect([counts.malformed, counts.relayed]).toEqual([bad.length, 0])
  })
})

describe('the first bytes', () => {
  test('a hello in thousands of records is ended at once, and 200 half ones hold nothing', async () => {
    const { port, counts, server } = await front({ helloTimeout: 500 })
    const hello = chromeHello('a.test')
    await send(port, [splitRecords(hello, 1)])
    expect(counts.malformed).toBe(1)
    await Promise.all(Array.from({ length: 200 }, (_, i) => send(port, [hello.subarray(0, 5 + i)])))
    expect(counts.timedOut).toBe(200)
    const open = await new Promise<number>(resolve => server.getConnections((_e, count) => resolve(count)))
    expect(open).toBe(0)
    expect(await get1(port, 'a.test')).toMatch(/^200/)
  })

  test('early data is never taken: what was not answered cannot be replayed', async () => {
    const { port } = await front()
    const dir = folder()
    const [session, early] = [join(dir, 's'), join(dir, 'e')]
    writeFileSync(early, GET)
    const run = (...more: string[]): Promise<string> =>
      new Promise(resolve => {
        const args = [
          's_client',
          '-connect',
          `127.0.0.1:${port}`,
          '-servername',
          'a.test',
          '-tls1_3',
          ...more,
        ]
        const child = spawn('openssl', args)
        onTestFinished(() => void child.kill())
        let text = ''
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', chunk => {
            text += chunk
            // Tickets come after the handshake; then there is nothing more to hear.
            if (/Max Early Data: \d+[\s\S]*Extended master|Early data was /.test(text)) child.stdin.end('Q\n')
          })
        }
        child.stdin.on('error', () => {})
        child.on('close', () => resolve(text))
      })
    expect(await run('-sess_out', session)).toMatch(/Max Early Data: 0/)
    expect(await run('-sess_in', session, '-early_data', early)).toMatch(/Early data was (not sent|rejected)/)
  })
})

describe('names', () => {
  test('421: a door with a policy is not reached by another host, spelling, version or connection', async () => {
    const clients = { 'b.test': { mode: 'required', ca: ca.cert } }
    const { port } = await front(
      {},
      pipeline()
        .use(clientIdentity())
        .handle(() => reply(200, 'in')),
      { clients },
    )
    for (const host of ['b.test', 'B.TEST', 'b.test.', 'b.test:443', 'b.test:1', 'b.test.:443']) {
      const made = await client(port, { servername: 'a.test', ALPNProtocols: ['http/1.1'] })
      made.socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(await made.rest(), host).toMatch(/^HTTP\/1\.1 4(21|00) /)
      const made2 = await client(port, { servername: 'a.test', ALPNProtocols: ['http/1.1'] })
      made2.socket.write(`GET https://${host}/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`)
      expect(await made2.rest(), host).toMatch(/^HTTP\/1\.1 4(21|00) /)
      const [answer] = await get2(port, 'a.test', [{ ':authority': host }])
      expect(answer, host).toMatch(/^(421|400|closed)/)
      const [both] = await get2(port, 'a.test', [{ ':authority': 'a.test', host }])
      expect(both, host).toMatch(/^(421|400|closed)/)
    }
    for (const servername of ['b.test', 'B.TEST']) expect(await get1(port, servername)).toBe('closed')
  })
})

describe('the path of ACME', () => {
  test('reads tokens and nothing else, whatever the path and the host', async () => {
    const memory = memoryStorage()
    const asked: string[] = []
    const read = (key: string) => {
      asked.push(key)
      return memory.read(key)
    }
    const storage = { ...memory, read }
    await memory.write('accounts/0123456789abcdef.json', 'secret')
    await memory.write('challenges/0123456789abcdef', 'proof')
    const issuer = acme({ names: ['a.test.example'], acceptTerms: true, storage, log() {} })
    const app = pipeline()
      .use(issuer.http01())
      .handle(() => reply(200, 'behind'))
    const { port } = await front({ cleartext: app })
    const base = '/.well-known/acme-challenge/'
    for (const rest of [
      ...[
        '../accounts/0123456789abcdef.json',
        '..%2faccounts%2f0123456789abcdef.json',
        '0123456789abcdef%00',
      ],
      ...[
        '0123456789abcdef/',
        '%2e%2e/0123456789abcdef',
        '0123456789abcdef.lock',
        '\\..\\0123456789abcdef',
        '%5c0123456789abcdef',
      ],
      ...[
        'x'.repeat(257),
        '0123456789abcdef;a',
        '0123456789abcde%66%2f',
        'constructor',
        '__proto__0123456789',
      ],
    ]) {
      const answer = await send(port, [
        `GET ${base}${rest} HTTP/1.1\r\nHost: junk.example\r\nConnection: close\r\n\r\n`,
      ])
      expect(answer, rest).not.toMatch(/proof|secret/)
    }
    for (const key of asked) expect(key).toMatch(/^challenges\/[\w-]{16,256}$/)
    const good = await send(port, [
      `GET ${base}0123456789abcdef HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    ])
    expect(good).toMatch(/no-store[\s\S]*proof$/i)
  })
})

describe('files that change under the store', () => {
  test('a chain that is being written is never served by half, wherever it breaks off', async () => {
    const dir = folder()
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
    const made = [middle.issue({ names: ['a.test'] }), middle.issue({ names: ['a.test'] })]
    const chain = (i: number): string => made[i]!.cert + middle.cert
    writeFileSync(cert, chain(0))
    writeFileSync(key, made[0]!.key)
    for (const source of [{ dir }, { files: { cert, key } }]) {
      writeFileSync(cert, chain(0))
      writeFileSync(key, made[0]!.key)
      const { tls } = await store(source)
      writeFileSync(key, made[1]!.key)
      for (let length = 0; length < chain(1).length; length += 97) {
        const cut = chain(1).slice(0, length)
        // Between two blocks nothing shows that more will come.
        if (/-----END CERTIFICATE-----\s*$/.test(cut)) continue
        writeFileSync(cert, cut)
        await tls.reload()
        expect(tls.certificates[0]!.chain, `${length} bytes`).toHaveLength(2)
      }
      writeFileSync(cert, chain(1))
      expect(await tls.reload()).toBe(true)
      expect(tls.problems()).toEqual([])
    }
  })

  test('links that are swapped, files that go and come: every handshake gets a whole pair', async () => {
    const root = folder()
    const made = Array.from({ length: 4 }, () => middle.issue({ names: ['a.test'] }))
    for (const [i, one] of made.entries()) {
      mkdirSync(join(root, `v${i}`))
      writeFileSync(join(root, `v${i}`, 'cert.pem'), one.cert + middle.cert)
      writeFileSync(join(root, `v${i}`, 'key.pem'), one.key)
    }
    const dir = join(root, 'now')
    symlinkSync('v0', dir)
    const { tls } = await store({ dir, watch: 20 })
    const { port } = await listenPlain(tls)
    let over = false
    let failed = 0
    let done = 0
    const shaking = Array.from({ length: 3 }, async () => {
      while (!over) {
        const answer = await get1(port, 'a.test', { ca: ca.cert, rejectUnauthorized: true })
        if (answer.startsWith('200')) done++
        else failed++
      }
    })
    for (let i = 1; i <= 40; i++) {
      symlinkSync(`v${i % 4}`, join(root, 'next'))
      renameSync(join(root, 'next'), dir)
      if (i % 10 === 0) rmSync(join(root, `v${(i + 1) % 4}`, 'key.pem'), { force: true })
      await new Promise(resolve => setTimeout(resolve, 10))
      if (i % 10 === 0) writeFileSync(join(root, `v${(i + 1) % 4}`, 'key.pem'), made[(i + 1) % 4]!.key)
    }
    await until('there were some', () => done > 10)
    over = true
    await Promise.all(shaking)
    expect(failed).toBe(0)
    await until('the last one is served', async () => (await tls.reload()) && tls.problems().length === 0)
  })

  test('a file that cannot be read, a folder in its place, a device: told, and nothing is lost', async () => {
    const dir = folder()
    const one = ca.issue({ names: ['a.test'] })
    writeFileSync(join(dir, 'cert.pem'), one.cert)
    writeFileSync(join(dir, 'key.pem'), one.key)
    const { tls, events } = await store({ dir })
    mkdirSync(join(dir, 'other.pem'))
    symlinkSync('/dev/zero', join(dir, 'zero.pem'))
    symlinkSync('nowhere', join(dir, 'gone.pem'))
    symlinkSync('.', join(dir, 'loop'))
    execFileSync('mkfifo', [join(dir, 'pipe.pem')])
    expect(await tls.reload()).toBe(true)
    writeFileSync(join(dir, 'big.pem'), 'x'.repeat(2_000_000))
    expect(await tls.reload()).toBe(true)
    expect(events.filter(event => event.kind === 'skipped').map(event => event.source)).toEqual([
      join(dir, 'big.pem'),
    ])
    expect(tls.find('a.test')).not.toBeNull()
  })
})

async function listenPlain(tls: Awaited<ReturnType<typeof store>>['tls']) {
  const made = await listen(tls, who, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => made.drain(0))
  return made
}
