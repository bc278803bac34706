/** Compression of replies, between real sockets. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { describe, expect, it, test } from 'vitest'
import {
  type CompressOptions,
  compress,
  editReplyBody,
  type Outcome,
  pipeline,
  proxy,
  reply,
  type Source,
} from '../src/index.ts'
import { request2, session2 } from './support/clients.ts'
import { ask, CODERS, plain } from './support/coded.ts'
import { edge, origin, type Seen, testUpstream, until } from './support/servers.ts'

const TEXT = 'a line of text that comes again\n'.repeat(500)
const HTML = { 'Content-Type': 'text/html', ETag: '"v1"' }
const ALL = 'gzip, deflate, br, zstd'

async function compressing(
  answer: (res: ServerResponse, seen: Seen) => void,
  options: CompressOptions = {},
  kind: Parameters<typeof edge>[1] = 'http',
) {
  const up = await origin(answer)
  const outcomes: Outcome[] = []
  const app = pipeline()
    .use({ name: 'watch', onDone: (_, outcome) => void outcomes.push(outcome) })
    .use(compress(options))
    .handle(proxy(testUpstream(up.url)))
  return { ...(await edge(app, kind)), seen: up.seen, outcomes }
}

describe('a reply', () => {
  it.each(Object.keys(CODERS))('in %s', async coding => {
    const { port } = await compressing(res => {
      res
        .writeHead(200, { ...HTML, 'Content-Length': TEXT.length, 'Accept-Ranges': 'bytes', Vary: 'Origin' })
        .end(TEXT)
    })
    const got = await ask(port, '/', { 'Accept-Encoding': `${coding}, identity;q=0.1` })
    expect([got.broken, got.headers['content-encoding'], plain(got)]).toEqual([false, coding, TEXT])
    expect(got.body.length).toBeLessThan(TEXT.length / 10)
    expect(got.headers).toMatchObject({
      vary: 'Origin, Accept-Encoding',
      etag: 'W/"v1"',
      'transfer-encoding': 'chunked',
    })
    expect([got.headers['content-length'], got.headers['accept-ranges']]).toEqual([undefined, undefined])
    const head = await ask(port, '/', { 'Accept-Encoding': coding }, 'HEAD')
    const ofHead = { ...head.headers, date: '', 'transfer-encoding': '' }
    expect(ofHead).toEqual({ ...got.headers, date: '', 'transfer-encoding': '' })
  })

  it('over HTTP/2, with what the client weighs most', async () => {
    const { url } = await compressing(res => res.writeHead(200, HTML).end(TEXT), {}, 'h2')
    const got = await request2(session2(url), { ':path': '/', 'accept-encoding': 'gzip;q=0.9, br;q=0.2' })
    expect(plain({ headers: got.headers, body: Buffer.from(got.body, 'latin1') })).toBe(TEXT)
    expect(got.headers['content-encoding']).toBe('gzip')
  })

  it('of a handler, and a body of its own is not changed', async () => {
    const bytes = Buffer.from(TEXT)
    const app = pipeline()
      .use(compress())
      .handle(() => reply(200, bytes, { headers: { 'Content-Type': 'text/plain' } }))
    for (let i = 0; i < 2; i++) {
      const got = await app.inject({ headers: { 'Accept-Encoding': 'gzip' } })
      expect(String(CODERS.gzip!.undo(got.body))).toBe(TEXT)
    }
    expect(String(bytes)).toBe(TEXT)
  })

  it('that is edited, too', async () => {
    const up = await origin(res => res.writeHead(200, HTML).end(TEXT))
    const app = pipeline()
      .use(compress())
      .use(
        editReplyBody({
          transform: () => ({
            chunk: (bytes, out) => void out.write(bytes),
            end(out) {
              out.write(Buffer.from('!'))
              out.end()
            },
          }),
        }),
      )
      .handle(proxy(testUpstream(up.url)))
    const got = await ask((await edge(app)).port, '/', { 'Accept-Encoding': 'br' })
    expect([got.headers['content-encoding'], plain(got)]).toEqual(['br', `${TEXT}!`])
  })
})

describe('sent as it is', () => {
  const part = { 'Content-Range': `bytes 0-${TEXT.length - 1}/${TEXT.length + 1}` }
  it.each<[string, number, Record<string, string>, string | undefined, boolean]>([
    ['a client that says nothing', 200, HTML, undefined, true],
    ['a client that wants none', 200, HTML, 'identity, gzip;q=0.5', true],
    ['a client with codings of its own', 200, HTML, 'frob', true],
    ['a coded reply', 200, { ...HTML, 'Content-Encoding': 'frob' }, ALL, false],
    ['a part', 206, { ...HTML, ...part }, ALL, false],
    ['an image', 200, { ...HTML, 'Content-Type': 'image/png' }, ALL, false],
    ['no type', 200, { ETag: '"v1"' }, ALL, false],
    ['no-transform', 200, { ...HTML, 'Cache-Control': 'public,no-transform' }, ALL, false],
  ])('%s', async (_, status, fields, accept, varies) => {
    const { port } = await compressing(res =>
      res.writeHead(status, { ...fields, 'Content-Length': TEXT.length }).end(TEXT),
    )
    const got = await ask(port, '/', accept === undefined ? {} : { 'Accept-Encoding': accept })
    expect([got.status, String(got.body), got.headers.etag]).toEqual([status, TEXT, '"v1"'])
    expect([got.headers['content-length'], got.headers.vary]).toEqual([
      String(TEXT.length),
      varies ? 'Accept-Encoding' : undefined,
    ])
  })

  it('what is short, unless the client takes nothing else', async () => {
    const { port } = await compressing(res =>
      res.writeHead(200, { ...HTML, 'Content-Length': 5 }).end('short'),
    )
    expect(String((await ask(port, '/', { 'Accept-Encoding': ALL })).body)).toBe('short')
    const forced = await ask(port, '/', { 'Accept-Encoding': 'identity;q=0, gzip' })
    expect([forced.headers['content-encoding'], plain(forced)]).toEqual(['gzip', 'short'])
  })

  it('no content', async () => {
    const { port } = await compressing((res, { target }) =>
      res.writeHead(Number(target.slice(1)), HTML).end(),
    )
    for (const status of [204, 205, 304]) {
      const got = await ask(port, `/${status}`, { 'Accept-Encoding': ALL })
      expect([got.status, got.headers['content-encoding'], got.headers.etag]).toEqual([
        status,
        undefined,
        '"v1"',
      ])
    }
  })

  it('what skip() names, and a client that forbids changes', async () => {
    const { port } = await compressing(res => res.writeHead(200, HTML).end(TEXT), {
      skip: cx => cx.request.path === '/form',
    })
    expect((await ask(port, '/form', { 'Accept-Encoding': ALL })).headers['content-encoding']).toBeUndefined()
    expect((await ask(port, '/', { 'Accept-Encoding': ALL })).headers['content-encoding']).toBe('br')
    const asked = await ask(port, '/', { 'Accept-Encoding': ALL, 'Cache-Control': 'no-transform' })
    expect([asked.headers['content-encoding'], asked.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
  })
})

describe('conditional requests', () => {
  it('a client that asks with the weak tag is answered with it', async () => {
    const { port } = await compressing((res, seen) => {
      const asked = seen.raw[seen.raw.indexOf('If-None-Match') + 1]
      // As origins do it: weakly (RFC 9110, 13.1.2).
      if (asked?.replaceAll('W/', '') === '"v1"') res.writeHead(304, { ETag: '"v1"' }).end()
      else res.writeHead(200, HTML).end(TEXT)
    })
    const first = await ask(port, '/', { 'Accept-Encoding': 'gzip' })
    expect(first.headers.etag).toBe('W/"v1"')
    const again = await ask(port, '/', { 'Accept-Encoding': 'gzip', 'If-None-Match': first.headers.etag! })
    expect([again.status, again.headers.etag, again.headers.vary]).toEqual([304, 'W/"v1"', 'Accept-Encoding'])
    const strong = await ask(port, '/', { 'If-None-Match': '"v1"' })
    expect([strong.status, strong.headers.etag]).toEqual([304, '"v1"'])
  })

  it('a tag that is none is taken off', async () => {
    const { port } = await compressing((res, { target }) =>
      res.writeHead(200, { ...HTML, ETag: target === '/weak' ? 'W/"x"' : 'v1' }).end(TEXT),
    )
    expect((await ask(port, '/', { 'Accept-Encoding': 'gzip' })).headers.etag).toBeUndefined()
    expect((await ask(port, '/weak', { 'Accept-Encoding': 'gzip' })).headers.etag).toBe('W/"x"')
  })
})

describe('streams', () => {
  it('events arrive as they are sent, each long before the next', async () => {
    const held: ServerResponse[] = []
    const { port } = await compressing(res => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' })
      res.flushHeaders()
      held.push(res)
    })
    const req = request({
      port,
      host: '127.0.0.1',
      headers: { 'Accept-Encoding': 'gzip' },
      agent: false,
    }).end()
    const [res] = await once(req, 'response')
    let text = ''
    res.pipe(createGunzip()).on('data', (bytes: Buffer) => {
      text += bytes
    })
    for (let i = 0; i < 20; i++) {
      held[0]!.write(`data: ${i}\n\n`)
      await until(`event ${i} is there`, () => text.endsWith(`data: ${i}\n\n`))
    }
    held[0]!.end()
    await once(res, 'end')
  })

  it('B045: a client that does not read stops the origin', async () => {
    let written = 0
    const block = randomBytes(65_536)
    const { port } = await compressing(res => {
      res.writeHead(200, { 'Content-Type': 'text/plain' })
      const more = (): void => {
        while (written < 256 << 20) {
          written += block.length
          if (!res.write(block)) return void res.once('drain', more)
        }
        res.end()
      }
      more()
    })
    const req = request({
      port,
      host: '127.0.0.1',
      headers: { 'Accept-Encoding': 'gzip' },
      agent: false,
    }).end()
    const [res] = await once(req, 'response')
    res.pause()
    let before = -1
    while (written !== before) {
      before = written
      await new Promise(resolve => setTimeout(resolve, 150))
    }
    expect(written).toBeLessThan(64 << 20)
    res.on('error', () => {})
    req.destroy()
  })

  it('a client that leaves ends the origin, and gives the place back', async () => {
    const gone: string[] = []
    const { port, outcomes } = await compressing(
      (res, { target }) => {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        if (target === '/whole') return void res.end(TEXT)
        res.write(TEXT)
        res.on('close', () => gone.push(target))
      },
      { maxStreams: 2 },
    )
    for (let i = 0; i < 6; i++) {
      const req = request({ port, path: `/${i}`, headers: { 'Accept-Encoding': 'gzip' }, agent: false }).end()
      const [res] = await once(req, 'response')
      expect(res.headers['content-encoding']).toBe('gzip')
      await once(res, 'data')
      res.on('error', () => {})
      req.destroy()
      await until('the origin hears of it', () => gone.length === i + 1)
    }
    await until('all are over', () => outcomes.length === 6)
    expect(plain(await ask(port, '/whole', { 'Accept-Encoding': 'gzip' }))).toBe(TEXT)
  })

  it('more at once than are allowed are sent as they are', async () => {
    const held: ServerResponse[] = []
    const { port } = await compressing(
      res => {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        res.flushHeaders()
        held.push(res)
      },
      { maxStreams: 1 },
    )
    const begun = request({
      port,
      host: '127.0.0.1',
      headers: { 'Accept-Encoding': 'gzip' },
      agent: false,
    }).end()
    const [first] = (await once(begun, 'response')) as [IncomingMessage]
    expect(first.headers['content-encoding']).toBe('gzip')
    const second = ask(port, '/', { 'Accept-Encoding': 'gzip' })
    await until('it is held', () => held.length === 2)
    for (const res of held) res.end(TEXT)
    const { headers, body } = await second
    expect([headers['content-encoding'], headers.vary, String(body)]).toEqual([
      undefined,
      'Accept-Encoding',
      TEXT,
    ])
    const chunks: Buffer[] = []
    for await (const chunk of first) chunks.push(chunk as Buffer)
    expect(String(CODERS.gzip!.undo(Buffer.concat(chunks)))).toBe(TEXT)
  })

  it('an origin that breaks off, and a source that breaks the rules', async () => {
    const { port } = await compressing(res => {
      res.writeHead(200, { 'Content-Type': 'text/plain' })
      res.write(TEXT)
      setTimeout(() => res.destroy(), 30)
    })
    const got = await ask(port, '/', { 'Accept-Encoding': 'gzip' }).catch(() => ({ broken: true }))
    expect(got.broken).toBe(true)
    const junk: Source[] = [
      {
        length: null,
        start() {
          throw new Error('a bug')
        },
      },
      {
        length: null,
        start(sink) {
          sink.write('text' as never)
          return { pause() {}, resume() {}, cancel() {} }
        },
      },
    ]
    for (const body of junk) {
      const app = pipeline()
        .use(compress())
        .handle(() => ({ ...reply(200, null, { headers: { 'Content-Type': 'text/plain' } }), body }))
      await expect(app.inject({ headers: { 'Accept-Encoding': 'gzip' } })).rejects.toMatchObject({
        code: 'internal',
      })
    }
  })
})

test('no handle of zlib is left behind by whoever leaves, breaks off or is refused', async () => {
  const { port, outcomes } = await compressing((res, { target }) => {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.write(TEXT)
    if (target === '/break') setTimeout(() => res.destroy(), 5)
  })
  for (let i = 0; i < 40; i++) {
    if (i % 2) await ask(port, '/break', { 'Accept-Encoding': ALL }).catch(() => {})
    else {
      const req = request({ port, path: '/leave', headers: { 'Accept-Encoding': ALL }, agent: false }).end()
      const [res] = await once(req, 'response')
      res.on('error', () => {})
      req.destroy()
    }
  }
  await until('all are over', () => outcomes.length === 40)
  const open = (): string[] => process.getActiveResourcesInfo().filter(name => /zlib|brotli|zstd/i.test(name))
  await until('all handles are closed', () => open().length === 0)
})
