/** The same store behind HTTP/2. */
import { pipeline, proxy } from '@postern/core'
import { expect, test } from 'vitest'
import { request2, session2 } from '../../core/test/support/clients.ts'
import { edge, origin, testUpstream } from '../../core/test/support/servers.ts'
import { cache } from '../src/index.ts'

test.each(['h2', 'h2c'] as const)('%s: hits, ranges, conditions and HEAD', async kind => {
  const { url, seen } = await origin(res => {
    res.writeHead(200, { 'Cache-Control': 'max-age=60', ETag: '"a"', 'Content-Type': 'text/plain' })
    res.write('0123')
    setTimeout(() => res.end('456789'), 20)
  })
  const app = pipeline()
    .wrap(cache())
    .handle(proxy(testUpstream(url)))
  const session = session2((await edge(app, kind)).url)
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    request2(session, { ':path': '/x', ':method': method, ...headers })
  const all = await Promise.all(Array.from({ length: 20 }, () => get()))
  for (const one of all) expect(one).toMatchObject({ status: 200, body: '0123456789', code: 0 })
  expect(await get()).toMatchObject({ status: 200, body: '0123456789', headers: { 'content-length': '10' } })
  expect(await get({ range: 'bytes=2-4' })).toMatchObject({ status: 206, body: '234' })
  expect(await get({ 'if-none-match': '"a"' })).toMatchObject({ status: 304, body: '' })
  expect(await get({}, 'HEAD')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '10' } })
  expect(seen).toHaveLength(1)
})
