/** Ranges, parts, HEAD and POST, as a client sees them. */
import { expect, test } from 'vitest'
import { cachingEdge, turn } from './support.ts'

const TEXT = '0123456789abcdefghij'
const FRESH = { 'Cache-Control': 'max-age=60' }

/** An origin that gives ranges of a text. */
function ranged(fields: Record<string, string>, text = () => TEXT): Parameters<typeof cachingEdge>[0] {
  return res => {
    const match = /^bytes=(\d+)-(\d*)$/.exec(res.req.headers.range ?? '')
    const ifRange = res.req.headers['if-range']
    if (!match || (ifRange !== undefined && ifRange !== fields.ETag))
      return res.writeHead(200, fields).end(text())
    const first = Number(match[1])
    const last = match[2] === '' ? text().length - 1 : Math.min(Number(match[2]), text().length - 1)
    const part = text().slice(first, last + 1)
    res.writeHead(206, { ...fields, 'Content-Range': `bytes ${first}-${last}/${text().length}` }).end(part)
  }
}

test('ranges come from the whole', async () => {
  const { get, seen } = await cachingEdge(ranged({ ...FRESH, ETag: '"a"' }))
  await get('/x')
  expect(await get('/x', { range: 'bytes=2-4' })).toMatchObject({
    status: 206,
    body: '234',
    headers: { 'content-range': 'bytes 2-4/20', 'content-length': '3' },
  })
  expect((await get('/x', { range: 'bytes=-3' })).body).toBe('hij')
  expect(await get('/x', { range: 'bytes=20-' })).toMatchObject({
    status: 416,
    headers: { 'content-range': 'bytes */20' },
  })
  expect(await get('/x', { range: 'bytes=0-1,4-5' })).toMatchObject({ status: 200, body: TEXT })
  expect(await get('/x', { range: 'bytes=0-1', 'if-range': '"b"' })).toMatchObject({
    status: 200,
    body: TEXT,
  })
  expect(await get('/x', { range: 'bytes=0-1', 'if-range': '"a"' })).toMatchObject({
    status: 206,
    body: '01',
  })
  expect(seen).toHaveLength(1)
})

test('parts are stored, joined, and completed', async () => {
  const { get, seen } = await cachingEdge(ranged({ ...FRESH, ETag: '"a"' }))
  expect((await get('/x', { range: 'bytes=4-7' })).body).toBe('4567')
  expect((await get('/x', { range: 'bytes=5-6' })).body).toBe('56')
  expect(seen).toHaveLength(1)
  expect((await get('/x', { range: 'bytes=0-3' })).body).toBe('0123')
  // 0-7 is there now.
  expect(await get('/x', { range: 'bytes=2-5' })).toMatchObject({ status: 206, body: '2345' })
  expect(seen).toHaveLength(2)
  const whole = await get('/x')
  expect(whole).toMatchObject({ status: 200, body: TEXT, headers: { 'content-length': '20' } })
  expect(whole.headers['content-range']).toBeUndefined()
  expect(seen[2]!.raw.join()).toContain('bytes=8-')
  expect((await get('/x')).headers.age).toBeDefined()
  expect(seen).toHaveLength(3)
})

test('the end of a part is completed from its beginning', async () => {
  const { get, seen } = await cachingEdge(ranged({ ...FRESH, ETag: '"a"' }))
  await get('/x', { range: 'bytes=15-' })
  expect(await get('/x')).toMatchObject({ status: 200, body: TEXT })
  expect(seen[1]!.raw.join()).toContain('bytes=0-14')
  expect((await get('/x', { range: 'bytes=0-' })).body).toBe(TEXT)
  expect(seen).toHaveLength(2)
})

test('parts of different versions, or of versions unknown, are never joined', async () => {
  for (const tagged of [true, false]) {
    let version = 0
    const { get } = await cachingEdge((res, seen, req) => {
      const text = version === 0 ? TEXT : TEXT.toUpperCase()
      const fields = tagged ? { ...FRESH, ETag: `"${version}"` } : FRESH
      return ranged(fields as Record<string, string>, () => text)(res, seen, req)
    })
    await get('/x', { range: 'bytes=0-9' })
    version = 1
    expect((await get('/x')).body).toBe(TEXT.toUpperCase())
    expect((await get('/x', { range: 'bytes=8-11' })).body).toBe('89AB')
  }
})

test('a part that is not what it says is passed on, and not stored', async () => {
  const { get, store } = await cachingEdge(res =>
    res.writeHead(206, { ...FRESH, 'Content-Range': 'bytes 0-9/20' }).end('01234'),
  )
  expect((await get('/x', { range: 'bytes=0-9' })).body).toBe('01234')
  expect(store.stats().entries).toBe(0)
})

test('HEAD from GET; a HEAD of its own renews what is stored, or shows that it is old', async () => {
  let etag = '"a"'
  const { get, seen } = await cachingEdge(res => {
    const head = res.req.method === 'HEAD'
    res.writeHead(200, {
      'Cache-Control': `max-age=${head ? 60 : 1}`,
      ETag: etag,
      'Content-Length': 4,
      'X-N': seen.length,
    })
    res.end(head ? undefined : 'body')
  })
  await get('/x')
  expect(await get('/x', {}, 'HEAD')).toMatchObject({
    status: 200,
    body: '',
    headers: { 'content-length': '4' },
  })
  expect(seen).toHaveLength(1)
  await turn(1100)
  expect((await get('/x', {}, 'HEAD')).headers['x-n']).toBe('2')
  expect(await get('/x')).toMatchObject({ body: 'body', headers: { 'x-n': '2' } })
  expect(seen).toHaveLength(2)
  etag = '"b"'
  await get('/x', { 'cache-control': 'no-cache' }, 'HEAD')
  expect((await get('/x')).headers['x-n']).toBe('4')
})

test('the answer to a POST is stored only when it says what it is and for how long', async () => {
  const { get, seen } = await cachingEdge((res, { method, target, body }) => {
    if (method === 'GET') return res.writeHead(200, FRESH).end('from GET')
    const fields: Record<string, string> = target === '/silent' ? {} : FRESH
    const place = target === '/else' ? '/other' : target
    res.writeHead(200, { ...fields, 'Content-Location': place }).end(`from POST ${body}`)
  })
  for (const path of ['/x', '/else', '/silent']) await get(path, {}, 'POST', '1')
  expect((await get('/x')).body).toBe('from POST 1')
  expect((await get('/else')).body).toBe('from GET')
  expect((await get('/other')).body).toBe('from GET')
  expect((await get('/silent')).body).toBe('from GET')
  expect(seen).toHaveLength(6)
})
