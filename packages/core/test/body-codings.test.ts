/** B047: bodies that are edited whatever their coding, between real sockets. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  type BodyTransform,
  compress,
  type DecodeRepliesOptions,
  decodeReplies,
  type EditReplyBodyOptions,
  editReplyBody,
  type Filter,
  holdReplyBody,
  type Outcome,
  pipeline,
  proxy,
  refuse,
  reply,
} from '../src/index.ts'
import { request2, session2 } from './support/clients.ts'
import { ask, CODERS, plain } from './support/coded.ts'
import { edge, field, origin, scripted, testUpstream, until } from './support/servers.ts'

const PAGE = `<p>${'inside '.repeat(3000)}</p>`
const HEAD = {
  'Content-Type': 'text/html; charset=utf-8',
  ETag: '"v1"',
  'Accept-Ranges': 'bytes',
  'Content-MD5': 'Q2hlY2sgSW50ZWdyaXR5IQ==',
  Digest: 'sha-256=abc=',
  'Content-Digest': 'sha-256=:abc=:',
  'Repr-Digest': 'sha-256=:abc=:',
  'Last-Modified': 'Tue, 01 Dec 2026 00:00:00 GMT',
}

/** Turns letters over, and tells its end: it changes the text and makes it longer. */
const shout = (): BodyTransform => ({
  chunk: (bytes, out) =>
    void out.write(Buffer.from(Buffer.from(bytes).toString('latin1').toUpperCase(), 'latin1')),
  end(out, trailers) {
    out.write(Buffer.from('<!-- edited -->'))
    out.end(trailers)
  },
})
const EDITED = `${PAGE.toUpperCase()}<!-- edited -->`

interface Made {
  port: number
  url: string
  seen: { raw: string[] }[]
  outcomes: Outcome[]
}

async function editing(
  answer: (res: ServerResponse) => void,
  options: Partial<EditReplyBodyOptions> = {},
  kind: Parameters<typeof edge>[1] = 'http',
): Promise<Made> {
  const up = await origin(answer)
  const outcomes: Outcome[] = []
  const app = pipeline()
    .use({ name: 'watch', onDone: (_, outcome) => void outcomes.push(outcome) })
    .use(editReplyBody({ transform: shout, ...options }))
    .handle(proxy(testUpstream(up.url)))
  return { ...(await edge(app, kind)), seen: up.seen, outcomes }
}

describe('B047: an edited body', () => {
  it.each([...Object.keys(CODERS), 'raw deflate', 'identity'])('of coding %s', async name => {
    const coding = name === 'raw deflate' ? 'deflate' : name
    const coded =
      name === 'raw deflate'
        ? deflateRawSync(PAGE)
        : name === 'identity'
          ? Buffer.from(PAGE)
          : CODERS[name]!.code(Buffer.from(PAGE))
    const { port, seen } = await editing(res => {
      res.writeHead(200, { ...HEAD, 'Content-Length': coded.length, 'Content-Encoding': coding })
      res.end(coded)
    })
    const got = await ask(port, '/', { 'Accept-Encoding': 'gzip, br, deflate, zstd, compress' })
    expect([got.status, got.broken, got.headers['content-encoding']]).toEqual([
      200,
      false,
      name === 'identity' ? undefined : coding,
    ])
    expect(plain(got)).toBe(EDITED)
    expect(got.headers.etag).toBe('W/"v1"')
    expect(got.headers['last-modified']).toBe(HEAD['Last-Modified'])
    for (const gone of [
      'content-length',
      'accept-ranges',
      'content-md5',
      'digest',
      'content-digest',
      'repr-digest',
    ]) {
      expect(got.headers[gone], gone).toBeUndefined()
    }
    const asked = field(seen[0]!.raw, 'accept-encoding')!
    expect(asked).toContain('gzip, br, deflate')
    expect(asked).not.toContain('compress')
    expect(asked.includes('zstd')).toBe('zstd' in CODERS)
  })

  it('of codings on top of one another leaves with the outermost', async () => {
    const coded = CODERS.br!.code(CODERS.gzip!.code(Buffer.from(PAGE)))
    const { port } = await editing(res =>
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip, br' }).end(coded),
    )
    const got = await ask(port, '/', { 'Accept-Encoding': 'gzip, br' })
    expect([got.headers['content-encoding'], plain(got)]).toEqual(['br', EDITED])
  })

  it('of several members, and of nothing', async () => {
    const bodies = [Buffer.concat([gzipSync(PAGE.slice(0, 100)), gzipSync(PAGE.slice(100))]), Buffer.alloc(0)]
    const { port } = await editing(res =>
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(bodies.shift()),
    )
    expect(plain(await ask(port, '/'))).toBe(EDITED)
    expect(plain(await ask(port, '/'))).toBe('<!-- edited -->')
  })

  it('over HTTP/2', async () => {
    const { url } = await editing(
      res => res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(gzipSync(PAGE)),
      {},
      'h2',
    )
    const got = await request2(session2(url), { ':path': '/', 'accept-encoding': 'gzip' })
    expect(plain({ headers: got.headers, body: Buffer.from(got.body, 'latin1') })).toBe(EDITED)
  })

  it('by two filters one after another is decoded once', async () => {
    const up = await origin(res =>
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(gzipSync('abc')),
    )
    const add = (letter: string): BodyTransform => ({
      chunk: (bytes, out) => void out.write(bytes),
      end(out) {
        out.write(Buffer.from(letter))
        out.end()
      },
    })
    const app = pipeline()
      .use(editReplyBody({ transform: () => add('2'), maxStreams: 1 }))
      .use(editReplyBody({ transform: () => add('1'), maxStreams: 1 }))
      .handle(proxy(testUpstream(up.url)))
    const { port } = await edge(app)
    for (let i = 0; i < 3; i++) expect(plain(await ask(port, '/'))).toBe('abc12')
  })

  it('has the same head for HEAD', async () => {
    const { port } = await editing(res => {
      const coded = gzipSync(PAGE)
      res.writeHead(200, { ...HEAD, 'Content-Length': coded.length, 'Content-Encoding': 'gzip' }).end(coded)
    })
    const [get, head] = [await ask(port, '/'), await ask(port, '/', {}, 'HEAD')]
    for (const one of [get, head]) {
      delete one.headers.date
      delete one.headers['transfer-encoding']
    }
    expect(head.headers).toEqual(get.headers)
    expect(head.body).toHaveLength(0)
  })

  it('of a handler', async () => {
    const app = pipeline()
      .use(editReplyBody({ transform: shout }))
      .handle(() => reply(200, 'small'))
    expect((await app.inject()).text()).toBe('SMALL<!-- edited -->')
    const own = gzipSync('small')
    const coded = pipeline()
      .use(editReplyBody({ transform: shout }))
      .handle(() =>
        reply(200, own, { headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' } }),
      )
    const got = await coded.inject()
    expect(String(CODERS.gzip!.undo(got.body))).toBe('SMALL<!-- edited -->')
    expect(String(CODERS.gzip!.undo(own))).toBe('small')
  })

  it('may be edited in place: what a handler keeps is another copy', async () => {
    const bytes = Buffer.from('kept')
    const edit = (): BodyTransform => ({
      chunk(chunk, out) {
        chunk.fill(0x78)
        out.write(chunk)
      },
      end: out => out.end(),
    })
    for (const filter of [editReplyBody({ transform: edit }), { name: 'own', replyBody: edit }]) {
      const app = pipeline()
        .use(filter)
        .handle(() => reply(200, bytes, { headers: { 'Content-Type': 'text/plain' } }))
      for (let i = 0; i < 2; i++) expect((await app.inject()).text()).toBe('xxxx')
    }
    expect(String(bytes)).toBe('kept')
  })

  it('keeps its trailers, but for digests of what it was', async () => {
    const { port } = await editing(res => {
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip', Trailer: 'X-Sum, Content-Digest' })
      res.write(gzipSync(PAGE))
      res.addTrailers({ 'X-Sum': '1', 'Content-Digest': 'sha-256=:abc=:' })
      res.end()
    })
    const got = await ask(port, '/', { TE: 'trailers' })
    expect([plain(got), got.trailers]).toEqual([EDITED, { 'x-sum': '1' }])
  })
})

describe('B047: left alone', () => {
  const coded = gzipSync(PAGE)
  it.each<[string, number, Record<string, string | number>, Buffer]>([
    ['an unknown coding', 200, { ...HEAD, 'Content-Encoding': 'frob' }, Buffer.from('?!')],
    [
      'a known coding under an unknown one',
      200,
      { ...HEAD, 'Content-Encoding': 'gzip, frob' },
      Buffer.from('?!'),
    ],
    ['a part', 206, { ...HEAD, 'Content-Range': 'bytes 0-9/100' }, Buffer.from('0123456789')],
    [
      'no-transform',
      200,
      { ...HEAD, 'Cache-Control': 'max-age=5, no-transform', 'Content-Encoding': 'gzip' },
      coded,
    ],
    ['another type', 200, { ...HEAD, 'Content-Type': 'image/png' }, Buffer.from('png')],
  ])('%s', async (_, status, fields, body) => {
    const { port } = await editing(res =>
      res.writeHead(status, { ...fields, 'Content-Length': body.length }).end(body),
    )
    const got = await ask(port, '/', { 'Accept-Encoding': 'gzip' })
    expect([got.status, got.headers.etag, got.headers['accept-ranges']]).toEqual([status, '"v1"', 'bytes'])
    expect([got.headers['content-length'], got.headers.digest]).toEqual([String(body.length), HEAD.Digest])
    expect(got.body).toEqual(body)
  })

  it('the no-transform of a request', async () => {
    const { port } = await editing(res => res.writeHead(200, HEAD).end(PAGE))
    expect((await ask(port, '/', { 'Cache-Control': 'no-transform' })).headers.etag).toBe('"v1"')
  })

  it('what the transform does not want', async () => {
    const { port } = await editing(
      res => res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(coded),
      {
        transform: () => undefined,
      },
    )
    const got = await ask(port, '/')
    expect([got.body, got.headers.etag]).toEqual([coded, '"v1"'])
  })
})

describe('an edit that is required', () => {
  it.each<[string, number, Record<string, string>]>([
    ['an unknown coding', 200, { ...HEAD, 'Content-Encoding': 'frob' }],
    ['a part that nobody asked for', 206, { ...HEAD, 'Content-Range': 'bytes 0-5/6' }],
    ['parts', 206, { ...HEAD, 'Content-Type': 'multipart/byteranges; boundary=x' }],
  ])('%s is refused', async (_, status, fields) => {
    const { port, outcomes } = await editing(res => res.writeHead(status, fields).end('secret'), {
      required: true,
    })
    const got = await ask(port, '/')
    expect([got.status, String(got.body).includes('secret')]).toEqual([502, false])
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'upstream', code: 'bad-reply' })
  })

  it('no client gets round it by a range, or by no-transform', async () => {
    const { port, seen } = await editing(
      res => res.writeHead(200, { ...HEAD, 'Cache-Control': 'no-transform' }).end(PAGE),
      { required: true },
    )
    for (const fields of [
      { Range: 'bytes=0-5' },
      { RANGE: 'bytes=0-' },
      { 'Cache-Control': 'no-transform' },
    ]) {
      const got = await ask(port, '/', fields as never as Record<string, string>)
      expect([got.status, plain(got)]).toEqual([200, EDITED])
      expect(field(seen.at(-1)!.raw, 'range')).toBeUndefined()
    }
  })
})

describe('B047: what is broken looks broken', () => {
  const random = randomBytes(200_000)
  for (const [coding, { code }] of Object.entries(CODERS)) {
    const whole = code(random)
    const bad = Buffer.from(whole)
    bad.fill(0x55, whole.length >> 1, (whole.length >> 1) + 64)
    it.each([
      ['cut short', whole.subarray(0, whole.length >> 1)],
      ['cut by a byte', whole.subarray(0, -1)],
      ['no such coding at all', Buffer.from('<html>plain text</html>')],
      ['with something behind it', Buffer.concat([whole, Buffer.from('<script>')])],
      // br has no checksum, and zstd need not have one: damage in literals cannot be seen.
      ...(coding === 'br' || coding === 'zstd' ? [] : [['damaged', bad] as [string, Buffer]]),
    ])(`${coding}: %s`, async (_, bytes) => {
      const { port, outcomes } = await editing(res =>
        res
          .writeHead(200, { ...HEAD, 'Content-Encoding': coding, 'Content-Length': bytes.length })
          .end(bytes),
      )
      const got = await ask(port, '/').catch(() => 'reset')
      if (typeof got !== 'string') expect(got.broken).toBe(true)
      await until('it is over', () => outcomes.length === 1)
      expect(outcomes[0]!.error).toMatchObject({ source: 'upstream', phase: 'reply-body', code: 'bad-reply' })
    })
  }

  it('a bomb, over HTTP/2: the stream is reset', async () => {
    const bomb = gzipSync(Buffer.alloc(32 << 20))
    const { url, outcomes } = await editing(
      res => res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(bomb),
      {
        maxBytes: 4 << 20,
        transform: () => ({ chunk: (b, out) => void out.write(b), end: out => out.end() }),
      },
      'h2',
    )
    const got = await request2(session2(url), { ':path': '/' })
    expect([got.status, got.code]).not.toEqual([200, 0])
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ code: 'bad-reply' })
  })

  it('an origin that breaks off', async () => {
    const bytes = gzipSync(random)
    const up = await scripted(
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`,
        ),
        bytes.subarray(0, 50_000),
      ]),
      'reset',
    )
    const app = pipeline()
      .use(editReplyBody({ transform: shout }))
      .handle(proxy(testUpstream(up.url)))
    const got = await ask((await edge(app)).port, '/').catch(() => ({ broken: true }))
    expect(got.broken).toBe(true)
  })

  it('a transform that throws, half-way', async () => {
    let chunks = 0
    const { port, outcomes } = await editing(
      res => res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(gzipSync(random)),
      {
        transform: () => ({
          chunk(bytes, out) {
            if (++chunks === 3) throw new Error('a bug')
            out.write(bytes)
          },
          end: out => out.end(),
        }),
      },
    )
    const got = await ask(port, '/').catch(() => ({ broken: true }))
    expect(got.broken).toBe(true)
    await until('it is over', () => outcomes.length === 1)
    expect(outcomes[0]!.error).toMatchObject({ source: 'proxy', code: 'internal' })
  })
})

it('more replies at once than are allowed are answered 503, and places come back', async () => {
  const held: ServerResponse[] = []
  const { port } = await editing(
    res => {
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' })
      if (res.req.method === 'HEAD') return void res.end()
      res.flushHeaders()
      held.push(res)
    },
    { maxStreams: 2 },
  )
  // A head that has come has taken its place.
  const open = async (): Promise<() => Promise<string>> => {
    const req = request({ port, host: '127.0.0.1', agent: false }).end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    return async () => {
      const chunks: Buffer[] = []
      for await (const chunk of res) chunks.push(chunk as Buffer)
      return plain({ headers: res.headers, body: Buffer.concat(chunks) })
    }
  }
  const first = [await open(), await open()]
  expect((await ask(port, '/', {}, 'HEAD')).status).toBe(200)
  expect((await ask(port, '/')).status).toBe(503)
  // The refused one has gone: its origin hears of it, and nobody else.
  for (const res of held.splice(0)) res.end(gzipSync(PAGE))
  for (const rest of first) expect(await rest()).toBe(EDITED)
  const again = await open()
  held[0]!.end(gzipSync(PAGE))
  expect(await again()).toBe(EDITED)
})

describe('decodeReplies()', () => {
  /** A gate in front that refuses by what it reads, and the journey of a secret past it. */
  const reader: Filter = {
    name: 'reader',
    async onReply(cx, head) {
      const { bytes } = await holdReplyBody(head, 1 << 20, cx.signal)
      return String(Buffer.from(bytes)).includes('secret') ? refuse(403, 'secret') : undefined
    },
  }
  const guarded = async (answer: (res: ServerResponse) => void, options: DecodeRepliesOptions = {}) => {
    const up = await origin(answer)
    const app = pipeline()
      .use(compress())
      .use(reader)
      .use(decodeReplies(options))
      .handle(proxy(testUpstream(up.url)))
    return { ...(await edge(app)), seen: up.seen }
  }

  it.each(Object.keys(CODERS))(
    '%s: gates in front see plain bytes, clients a coding of the edge',
    async coding => {
      const bodies = [PAGE, `${PAGE}secret`]
      const { port } = await guarded(res => {
        const coded = CODERS[coding]!.code(Buffer.from(bodies.shift()!))
        res.writeHead(200, { ...HEAD, 'Content-Encoding': coding, 'Content-Length': coded.length }).end(coded)
      })
      const fine = await ask(port, '/', { 'Accept-Encoding': 'gzip' })
      expect([fine.status, fine.headers['content-encoding'], fine.headers.etag]).toEqual([
        200,
        'gzip',
        'W/"v1"',
      ])
      expect([plain(fine), fine.headers.digest]).toEqual([PAGE, undefined])
      expect((await ask(port, '/', { 'Accept-Encoding': 'gzip' })).status).toBe(403)
    },
  )

  it('who wants to get past: ranges, codings that nobody knows, no-transform', async () => {
    const { port, seen } = await guarded(
      res => {
        const fields = { ...HEAD, 'Cache-Control': 'no-transform' }
        if (res.req.url === '/frob')
          res.writeHead(200, { ...fields, 'Content-Encoding': 'frob' }).end('secret')
        else if (res.req.url === '/part')
          res.writeHead(206, { ...fields, 'Content-Range': 'bytes 0-2/9' }).end('sec')
        else res.writeHead(200, { ...fields, 'Content-Encoding': 'gzip' }).end(gzipSync('a secret'))
      },
      { required: true },
    )
    const past = { 'Accept-Encoding': 'frob, gzip', Range: 'bytes=0-3', 'Cache-Control': 'no-transform' }
    expect((await ask(port, '/', past)).status).toBe(403)
    const { raw } = seen[0]!
    expect([field(raw, 'accept-encoding'), field(raw, 'range')]).toEqual(['gzip', undefined])
    expect((await ask(port, '/frob', past)).status).toBe(502)
    expect((await ask(port, '/part', past)).status).toBe(502)
  })

  it('without required: what cannot be undone passes as it is', async () => {
    const { port } = await guarded(res =>
      res.writeHead(200, { ...HEAD, 'Content-Encoding': 'frob' }).end('?!'),
    )
    const got = await ask(port, '/')
    expect([got.headers['content-encoding'], String(got.body), got.headers.etag]).toEqual([
      'frob',
      '?!',
      '"v1"',
    ])
  })

  it('what breaks is 502 where a gate holds it, and places come back', async () => {
    const cut = gzipSync(PAGE).subarray(0, -5)
    const { port } = await guarded(
      res => {
        if (res.req.url === '/cut') res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(cut)
        else res.writeHead(200, { ...HEAD, 'Content-Encoding': 'gzip' }).end(gzipSync(PAGE))
      },
      { maxStreams: 1 },
    )
    for (let i = 0; i < 3; i++) {
      expect((await ask(port, '/cut')).status).toBe(502)
      expect(plain(await ask(port, '/'))).toBe(PAGE)
      expect((await ask(port, '/', {}, 'HEAD')).headers['content-encoding']).toBeUndefined()
    }
  })
})
