/** A cache with compression: of what is sent, in front of it, and of what is stored, behind it. */
import { compress, pipeline, proxy, storeCompressed } from '@postern/core'
import { describe, expect, it } from 'vitest'
import { ask, plain } from '../../core/test/support/coded.ts'
import { edge, field, origin, testUpstream } from '../../core/test/support/servers.ts'
import { cache } from '../src/index.ts'

const TEXT = 'a line of text that comes again\n'.repeat(500)
const FIELDS = { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=60', ETag: '"v1"' }

async function caching(where: 'in front' | 'behind', fields: Record<string, string> = FIELDS) {
  const up = await origin((res, seen) => {
    const asked = field(seen.raw, 'if-none-match')
    if (asked?.replaceAll('W/', '').includes('"v1"')) res.writeHead(304, fields).end()
    else res.writeHead(200, { ...fields, 'Content-Length': TEXT.length }).end(TEXT)
  })
  const store = cache()
  const begun = pipeline()
  const chain =
    where === 'in front' ? begun.use(compress()).wrap(store) : begun.wrap(store).wrap(storeCompressed())
  return { ...(await edge(chain.handle(proxy(testUpstream(up.url))))), seen: up.seen, store }
}

const CLIENTS: [string, string | undefined][] = [
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['identity', undefined],
]

describe('compress() in front of a cache', () => {
  it('one stored response serves all clients, each in its coding', async () => {
    const { port, seen, store } = await caching('in front')
    for (let round = 0; round < 2; round++) {
      for (const [accept, coding] of CLIENTS) {
        const got = await ask(port, '/', { 'Accept-Encoding': accept })
        expect([got.headers['content-encoding'], plain(got)]).toEqual([coding, TEXT])
        expect(got.headers.vary).toBe('Accept-Encoding')
        expect(got.headers.etag).toBe(coding === undefined ? '"v1"' : 'W/"v1"')
      }
    }
    expect([seen.length, store.stats().entries]).toEqual([1, 1])
  })

  it('a hit is validated with either tag', async () => {
    const { port, seen } = await caching('in front')
    await ask(port, '/')
    for (const tag of ['W/"v1"', '"v1"']) {
      const got = await ask(port, '/', { 'Accept-Encoding': 'gzip', 'If-None-Match': tag })
      expect([got.status, got.headers.etag]).toEqual([304, tag])
    }
    expect(seen).toHaveLength(1)
  })
})

describe('storeCompressed() behind a cache', () => {
  it('each variant is stored as it is sent, and compressed once', async () => {
    const { port, seen, store } = await caching('behind')
    const first = new Map<string, Buffer>()
    for (let round = 0; round < 3; round++) {
      for (const [accept, coding] of CLIENTS) {
        const got = await ask(port, '/', { 'Accept-Encoding': accept })
        expect([got.headers['content-encoding'], plain(got)]).toEqual([coding, TEXT])
        expect(got.headers.vary).toBe('Accept-Encoding')
        if (round === 0) first.set(accept, got.body)
        else {
          expect(got.body).toEqual(first.get(accept))
          // What is stored whole has a length again.
          expect(got.headers['content-length']).toBe(String(got.body.length))
        }
      }
    }
    expect([seen.length, store.stats().entries]).toEqual([3, 3])
    expect(store.stats().bytes).toBeLessThan(TEXT.length * 2)
  })

  it('HEAD tells what GET does, and a hit is validated', async () => {
    const { port } = await caching('behind')
    const get = await ask(port, '/', { 'Accept-Encoding': 'gzip' })
    const head = await ask(port, '/', { 'Accept-Encoding': 'gzip' }, 'HEAD')
    expect([head.status, head.headers.etag, head.headers['content-encoding']]).toEqual([
      200,
      get.headers.etag,
      'gzip',
    ])
    const again = await ask(port, '/', { 'Accept-Encoding': 'gzip', 'If-None-Match': get.headers.etag! })
    expect([again.status, again.headers.etag]).toEqual([304, 'W/"v1"'])
  })

  it('what has gone stale is renewed by the tag that it is stored with', async () => {
    const { port, seen } = await caching('behind', {
      ...FIELDS,
      'Cache-Control': 'max-age=0, must-revalidate',
    })
    for (let i = 0; i < 3; i++) {
      const got = await ask(port, '/', { 'Accept-Encoding': 'gzip' })
      expect([got.status, got.headers['content-encoding'], plain(got)]).toEqual([200, 'gzip', TEXT])
    }
    expect(seen.map(one => field(one.raw, 'if-none-match'))).toEqual([undefined, 'W/"v1"', 'W/"v1"'])
  })
})

it('an edit in place of what is sent does not reach what is stored', async () => {
  const up = await origin(res => res.writeHead(200, FIELDS).end('kept'))
  const app = pipeline()
    .use({
      name: 'careless',
      replyBody: () => ({
        chunk(bytes, out) {
          for (let i = 0; i < bytes.length; i++) bytes[i]!++
          out.write(bytes)
        },
        end: out => out.end(),
      }),
    })
    .wrap(cache())
    .handle(proxy(testUpstream(up.url)))
  const { port } = await edge(app)
  for (let i = 0; i < 3; i++) expect(String((await ask(port, '/')).body)).toBe('lfqu')
  expect(up.seen).toHaveLength(1)
})
