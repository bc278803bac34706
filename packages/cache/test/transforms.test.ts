/** Filters that edit the bytes they get do not edit what is stored, nor what others get. */
import { type BodyTransform, HeaderList, pipeline, proxy } from '@postern/core'
import { describe, expect, test } from 'vitest'
import { request2, session2 } from '../../core/test/support/clients.ts'
import { edge, origin, testUpstream } from '../../core/test/support/servers.ts'
import { cache } from '../src/index.ts'

const inPlace: BodyTransform = {
  chunk: (bytes, out) => void out.write(bytes.fill(0x78)),
  end: out => out.end(),
}

describe.each(['http', 'h2c'] as const)('%s', kind => {
  test.each([10, 3000, 9000, 200_000])('a body of %i bytes, edited in place for some', async size => {
    const body = 'abcdefghij'.repeat(size / 10)
    const { url, seen } = await origin(res => {
      res.writeHead(200, { 'Cache-Control': 'max-age=60' })
      res.write(body.slice(0, size / 2))
      setTimeout(() => res.end(body.slice(size / 2)), 20)
    })
    const app = pipeline()
      .use({
        name: 'scribbler',
        replyBody: cx => (cx.request.headers.has('x-scribble') ? inPlace : undefined),
      })
      .wrap(cache())
      .handle(proxy(testUpstream(url)))
    const { url: base } = await edge(app, kind)
    const session = kind === 'http' ? null : session2(base)
    const get = async (headers: Record<string, string> = {}): Promise<string> => {
      if (session) return (await request2(session, { ':path': '/x', ...headers })).body
      return (await fetch(`${base}/x`, { headers })).text()
    }
    // Those who wait for one fetch, then those who are answered from the store.
    for (let round = 0; round < 3; round++) {
      const [edited, plain, other] = await Promise.all([
        get({ 'x-scribble': '1' }),
        get(),
        get({ 'x-scribble': '1' }),
      ])
      expect(plain === body).toBe(true)
      expect(edited === 'x'.repeat(size) && other === edited).toBe(true)
    }
    if (size > 100) expect(await get({ range: 'bytes=1-3', 'x-scribble': '1' })).toBe('xxx')
    expect(await get({ range: 'bytes=1-3' })).toBe('bcd')
    expect(seen).toHaveLength(1)
  })

  test('a wrapper around the cache that edits the bytes of a hit', async () => {
    const shared = cache()
    const app = pipeline()
      .wrap(inner => async cx => {
        const reply = await inner(cx)
        const { body } = reply
        if (!(body && 'start' in body)) return reply
        const chunks: Uint8Array[] = []
        await new Promise<void>((resolve, reject) => {
          body.start({
            write: bytes => chunks.push(bytes.fill(0x79)) > 0,
            end: () => resolve(),
            fail: reject,
          })
        })
        return { status: 200, headers: new HeaderList(), body: Buffer.concat(chunks) }
      })
      .wrap(shared)
      .handle(() => ({
        status: 200,
        headers: HeaderList.from({ 'Cache-Control': 'max-age=9' }),
        body: Buffer.from('ab'),
      }))
    for (let i = 0; i < 3; i++) expect((await app.inject({ path: '/' })).text()).toBe('yy')
    const reader = pipeline()
      .wrap(shared)
      .handle(() => ({ status: 500, headers: new HeaderList(), body: null }))
    expect((await reader.inject({ path: '/' })).text()).toBe('ab')
  })
})
