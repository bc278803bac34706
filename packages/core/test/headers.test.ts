/** B015, B026, B029 to B031, B033: header fields in both directions. */
import { createConnection } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Filter, HeaderList, pipeline, proxy } from '../src/index.ts'
import { get1, request2, session2 } from './support/clients.ts'
import { edge, field, fields, origin, proxyEdge, scripted, testUpstream } from './support/servers.ts'

const answer = (...lines: string[]): string =>
  ['HTTP/1.1 200 OK', ...lines, 'Content-Length: 2', '', 'ok'].join('\r\n')

describe('B029: Set-Cookie', () => {
  const COOKIES = ['a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'b=2; Path=/', 'c=3']
  for (const status of ['200 OK', '404 Not Found']) {
    it(`stays three lines in order on ${status}`, async () => {
      const up = await scripted(
        `HTTP/1.1 ${status}\r\n${COOKIES.map(one => `Set-Cookie: ${one}\r\n`).join('')}Content-Length: 0\r\n\r\n`,
      )
      const { port } = await proxyEdge(up.url)
      expect(fields((await get1(port, '/')).raw, 'set-cookie')).toEqual(COOKIES)
      const h2 = await proxyEdge(up.url, 'h2c')
      expect((await request2(session2(h2.url), { ':path': '/' })).headers['set-cookie']).toEqual(COOKIES)
    })
  }
})

describe('B030: order, case and duplicates', () => {
  it('are kept from client to upstream', async () => {
    const up = await scripted(answer())
    const { port } = await proxyEdge(up.url)
    await get1(port, '/', [
      'X-CSRF-TOKEN: 1',
      'x-lower: 2',
      'X-A: 1',
      'Sec-WebSocket-Key: k',
      'X-A: 2',
      'X-a: 3',
    ])
    const sent = up.received()
    expect(sent.match(/^x-a: \d/gim)).toEqual(['X-A: 1', 'X-A: 2', 'X-a: 3'])
    for (const line of ['X-CSRF-TOKEN: 1', 'x-lower: 2', 'Sec-WebSocket-Key: k'])
      expect(sent).toContain(`\r\n${line}\r\n`)
    expect(sent.indexOf('X-CSRF-TOKEN')).toBeLessThan(sent.indexOf('x-lower'))
  })

  it('are kept from upstream to client', async () => {
    const lines = [
      'WWW-Authenticate: Basic realm="a, b"',
      'X-B: 1',
      'WWW-Authenticate: Bearer',
      'x-B: 2',
      'Vary: A',
      'Vary: B',
      'Link: <a>',
      'Link: <b>',
    ]
    const up = await scripted(answer(...lines))
    const { port } = await proxyEdge(up.url)
    const { head } = await get1(port, '/')
    expect(head.split('\r\n').filter(line => lines.includes(line))).toEqual(lines)
  })
})

describe('B031: bytes of values', () => {
  const VALUE = 'attachment; filename="\xe9 \xc3\xa9\xe4\xb8\xad.txt"'

  it('above 0x7f pass unchanged to h1 and h2 clients', async () => {
    const up = await scripted(answer(`Content-Disposition: ${VALUE}`))
    const { port } = await proxyEdge(up.url)
    expect(field((await get1(port, '/')).raw, 'content-disposition')).toBe(VALUE)
    const h2 = await proxyEdge(up.url, 'h2c')
    const got = (await request2(session2(h2.url), { ':path': '/' })).headers['content-disposition']
    expect(Buffer.from(String(got), 'latin1').toString('latin1')).toBe(got)
    expect(got).toBe(VALUE)
  })

  it('above 0x7f pass unchanged to the upstream', async () => {
    const up = await scripted(answer())
    const { port } = await proxyEdge(up.url)
    await get1(port, '/', [`X-Name: ${VALUE}`])
    expect(up.received()).toContain(`X-Name: ${VALUE}\r\n`)
  })

  it('that are controls give 502, and the edge lives on', async () => {
    const up = await scripted(answer('X-Bad: a\x01b'))
    const { port } = await proxyEdge(up.url)
    expect((await get1(port, '/')).status).toBe(502)
    expect((await get1(port, '/')).status).toBe(502)
  })
})

describe('B033: connection fields of an upstream', () => {
  const FIELDS = [
    'Connection: Upgrade, Keep-Alive, X-Hop',
    'Keep-Alive: timeout=5',
    'Upgrade: h2,h2c',
    'Proxy-Connection: keep-alive',
    'X-Hop: 1',
    'X-End: 1',
  ]

  it('never reach an h2 client', async () => {
    const up = await scripted(answer(...FIELDS))
    const { url } = await proxyEdge(up.url, 'h2c')
    const { status, headers, body } = await request2(session2(url), { ':path': '/' })
    expect([status, body]).toEqual([200, 'ok'])
    for (const name of ['connection', 'keep-alive', 'upgrade', 'proxy-connection', 'x-hop'])
      expect(headers).not.toHaveProperty(name)
    expect(headers['x-end']).toBe('1')
  })

  it('never reach an h1 client, which can still ask for a close', async () => {
    const up = await scripted(answer(...FIELDS))
    const { port } = await proxyEdge(up.url)
    const { raw } = await get1(port, '/')
    for (const name of ['keep-alive', 'upgrade', 'proxy-connection', 'x-hop'])
      expect(fields(raw, name)).toEqual([])
    expect(fields(raw, 'connection')).toEqual(['close'])
  })
})

describe('hop-by-hop fields of a client', () => {
  it('stay on their hop, nominated ones too', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    await get1(port, '/', [
      'Connection: close, X-Secret, Content-Length, Transfer-Encoding',
      'X-Secret: 1',
      'Keep-Alive: 5',
      'Proxy-Authorization: x',
      'Proxy-Connection: x',
      'X-End: 1',
    ])
    const { raw } = up.seen[0]!
    for (const name of ['x-secret', 'keep-alive', 'proxy-authorization', 'proxy-connection'])
      expect(fields(raw, name)).toEqual([])
    expect(field(raw, 'x-end')).toBe('1')
  })

  it('joins the crumbs of a cookie', async () => {
    const up = await origin()
    const { url } = await proxyEdge(up.url, 'h2c')
    await request2(session2(url), { ':path': '/', cookie: ['a=1', 'b=2'] })
    expect(fields(up.seen[0]!.raw, 'cookie')).toEqual(['a=1; b=2'])
  })
})

describe('B015: TE', () => {
  it.each([
    [['TE: trailers'], ['trailers']],
    [['TE: trailers, deflate;q=0.5'], ['trailers']],
    [['TE: gzip'], []],
    [['TE: gzip', 'TE: trailers'], ['trailers']],
  ])('%j becomes %j', async (lines, expected) => {
    const up = await origin()
    const { port } = await proxyEdge(up.url)
    await get1(port, '/', lines)
    expect(fields(up.seen[0]!.raw, 'te')).toEqual(expected)
  })
})

describe('B026: what hooks and clients may write', () => {
  const edits: [string, (headers: HeaderList) => void][] = [
    ['a second length', headers => headers.append('Content-Length', '5')],
    ['a second Host', headers => headers.set('host', 'evil.test')],
    ['Transfer-Encoding', headers => headers.set('Transfer-Encoding', 'chunked')],
    ['CRLF in a value', headers => headers.set('X', 'a\r\nY: b')],
    ['NUL in a value', headers => headers.append('X', 'a\0b')],
    ['CRLF in a name', headers => headers.set('X\r\nY', 'a')],
    ['an object as value', headers => headers.set('X', { toString: () => 'a\r\nY: b' } as unknown as string)],
    ['characters beyond a byte', headers => headers.set('X', '\u010a')],
  ]

  it.each(edits)('refuses %s from a filter with 500', async (_what, edit) => {
    const up = await origin()
    const filter: Filter = { name: 'edit', onForward: (_cx, out) => edit(out.headers) }
    const { port } = await edge(
      pipeline()
        .use(filter)
        .handle(proxy(testUpstream(up.url))),
    )
    expect((await get1(port, '/')).status).toBe(500)
    expect(up.seen).toEqual([])
  })

  it.each(['/x\r\nY: b', 'http://evil.test/', '/../x', 'x', '/a b'])(
    'refuses the target %j from a filter',
    async target => {
      const up = await origin()
      const filter: Filter = {
        name: 'edit',
        onForward: (_cx, out) => {
          out.target = target
        },
      }
      const { port } = await edge(
        pipeline()
          .use(filter)
          .handle(proxy(testUpstream(up.url))),
      )
      expect((await get1(port, '/')).status).toBe(500)
      expect(up.seen).toEqual([])
    },
  )

  it('refuses illegal reply fields where they are set', () => {
    expect(() => HeaderList.from({ X: 'a\nb' })).toThrow(TypeError)
    expect(() => new HeaderList().append('a b', 'c')).toThrow(TypeError)
  })

  it('lets no line break of an h2 client through', async () => {
    const up = await origin()
    const { port } = await proxyEdge(up.url, 'h2c')
    // A client that does not check: HEADERS with a literal value "a\nb", made by hand.
    const literal = (name: string, value: string): Buffer =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ])
    const block = Buffer.concat([
      Buffer.from([0x82, 0x84, 0x86]),
      literal(':authority', 'edge.test'),
      literal('x-bad', 'a\nb'),
    ])
    const frame = Buffer.concat([Buffer.from([0, 0, block.length, 1, 5, 0, 0, 0, 1]), block])
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    socket.write(frame)
    await new Promise(resolve => setTimeout(resolve, 200))
    socket.destroy()
    // The session drops the field or the stream; either way no line break went on.
    for (const one of up.seen) expect(one.raw.some(text => /[\r\n]|x-bad/.test(text))).toBe(false)
  })
})
