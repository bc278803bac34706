/** A second level behind memory: shared, surviving, purged, and never in the way. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { type CacheStore, cache, fileStore, memoryStore } from '../src/index.ts'
import { cachingEdge, turn, until } from './support.ts'

const FRESH = { 'Cache-Control': 'max-age=60' }
const root = mkdtempSync(join(tmpdir(), 'postern-level2-'))
afterAll(() => rmSync(root, { recursive: true }))
const folder = (): string => mkdtempSync(join(root, 'cache-'))

/** Every file below a folder. */
function files(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}

describe('shared by two caches', () => {
  test('what one has stored, the other has; what is purged is gone from both', async () => {
    const store = memoryStore()
    let version = 1
    const answer: Parameters<typeof cachingEdge>[0] = (res, { target }) =>
      res.writeHead(200, { ...FRESH, 'Cache-Tag': 't', ETag: `"${version}"` }).end(`${target} ${version}`)
    const one = await cachingEdge(answer, { store })
    const two = await cachingEdge(answer, { store })
    await one.get('/x')
    const hit = await two.get('/x')
    expect(hit).toMatchObject({ status: 200, body: '/x 1' })
    expect(hit.headers.age).toBeDefined()
    expect(await two.get('/x', { range: 'bytes=0-1' })).toMatchObject({ status: 206, body: '/x' })
    expect(two.seen).toHaveLength(0)
    version = 2
    expect(await two.store.purge.tag('t')).toBe(1)
    expect((await two.get('/x')).body).toBe('/x 2')
    // A cache that holds a copy in its own memory keeps it until it is purged there.
    expect((await one.get('/x')).body).toBe('/x 1')
    await one.store.purge.url('http://edge.test/x')
    expect((await one.get('/x')).body).toBe('/x 2')
  })

  test('a variant is for those who asked for it, also when others wait for the same look-up', async () => {
    const store = memoryStore()
    const answer: Parameters<typeof cachingEdge>[0] = res => {
      const language = String(res.req.headers['accept-language'])
      res.writeHead(200, { ...FRESH, Vary: 'Accept-Language' }).end(language)
    }
    const one = await cachingEdge(answer, { store })
    await one.get('/x', { 'accept-language': 'de' })
    const slow: CacheStore = { ...store, read: key => turn(100).then(() => store.read(key)) }
    const two = await cachingEdge(answer, { store: slow })
    const languages = ['de', 'en', 'de', 'fr']
    const got = await Promise.all(languages.map(language => two.get('/x', { 'accept-language': language })))
    expect(got.map(reply => reply.body)).toEqual(languages)
    expect(two.seen.map(seen => seen.raw.join()).join()).not.toContain(',de,')
  })

  test('a stale record is validated, and the renewed one is for both', async () => {
    const store = memoryStore()
    const answer: Parameters<typeof cachingEdge>[0] = res => {
      if (res.req.headers['if-none-match'] === '"a"') res.writeHead(304, FRESH).end()
      else res.writeHead(200, { 'Cache-Control': 'max-age=1', ETag: '"a"' }).end('body')
    }
    const [one, two, three] = [
      await cachingEdge(answer, { store }),
      await cachingEdge(answer, { store }),
      await cachingEdge(answer, { store }),
    ]
    await one.get('/x')
    await turn(1100)
    expect((await two.get('/x')).body).toBe('body')
    expect(two.seen[0]!.raw.join()).toContain('"a"')
    expect((await three.get('/x')).body).toBe('body')
    expect(three.seen).toHaveLength(0)
  })

  test('an update by another does not come back', async () => {
    const store = memoryStore()
    let version = 1
    const held: (() => void)[] = []
    const { get } = await cachingEdge(
      (res, { method }) => {
        if (method === 'PUT') version++
        const body = `v${version}`
        const send = (): void => void res.writeHead(200, FRESH).end(body)
        if (method === 'GET' && version === 1) held.push(send)
        else send()
      },
      { store },
    )
    const early = get('/x')
    await until('it is asked', () => held.length === 1)
    await get('/x', {}, 'PUT', 'a')
    held[0]!()
    expect((await early).body).toBe('v1')
    expect((await get('/x')).body).toBe('v2')
    const { records } = await store.read('http://edge.test/x')
    expect(records.map(record => Buffer.from(record.body!).toString())).toEqual(['v2'])
  })
})

test('a store that fails or hangs costs nothing but what it would have given', async () => {
  const broken: CacheStore = {
    read: () => Promise.reject(new Error('down')),
    write: () => Promise.reject(new Error('down')),
    purge: () => Promise.reject(new Error('down')),
    close() {},
  }
  const hanging: CacheStore = { ...broken, read: () => new Promise(() => {}) }
  for (const store of [broken, hanging]) {
    const warned = new Promise(resolve => process.once('warning', resolve))
    const {
      get,
      seen,
      store: made,
    } = await cachingEdge(res => res.writeHead(200, FRESH).end('x'), {
      store,
      storeTimeout: 50,
    })
    expect((await get('/x')).body).toBe('x')
    expect((await get('/x')).body).toBe('x')
    expect(seen).toHaveLength(1)
    await expect(made.purge.all()).rejects.toThrow('down')
    expect((await get('/x')).body).toBe('x')
    expect(seen).toHaveLength(2)
    if (store === broken) expect(String(await warned)).toContain('second level failed')
  }
})

describe('files', () => {
  test('survive a restart; what is damaged is removed and fetched anew', async () => {
    const place = folder()
    const answer: Parameters<typeof cachingEdge>[0] = (res, { target }) =>
      res.writeHead(200, FRESH).end(target.repeat(100))
    let store = await fileStore({ folder: place })
    const first = await cachingEdge(answer, { store })
    for (let i = 0; i < 10; i++) await first.get(`/${i}`)
    await until('all are written', () => files(join(place, 'records')).length === 10)
    await first.store.close()
    // One bit, a missing end, and the content of another.
    const [a, b, c, d] = files(join(place, 'records'))
    const bytes = readFileSync(a!)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(a!, bytes)
    writeFileSync(b!, readFileSync(b!).subarray(0, -1))
    writeFileSync(c!, readFileSync(d!))
    store = await fileStore({ folder: place })
    const second = await cachingEdge(answer, { store })
    for (let i = 0; i < 10; i++) expect((await second.get(`/${i}`)).body).toBe(`/${i}`.repeat(100))
    expect(second.seen).toHaveLength(3)
    // Damage that comes while it runs.
    await until('all are written', () => files(join(place, 'records')).length === 10)
    for (const file of files(join(place, 'records'))) writeFileSync(file, readFileSync(file).reverse())
    const third = await cachingEdge(answer, { store })
    for (let i = 0; i < 10; i++) expect((await third.get(`/${i}`)).body).toBe(`/${i}`.repeat(100))
    expect(third.seen).toHaveLength(10)
    await store.close()
  })

  test('a folder has one owner at a time', async () => {
    const place = folder()
    const store = await fileStore({ folder: place })
    await expect(fileStore({ folder: place })).rejects.toThrow('has this cache folder')
    await store.close()
    await (await fileStore({ folder: place })).close()
  })

  test('kill -9 during writes loses what was in flight, and damages nothing', {
    timeout: 60_000,
  }, async () => {
    const place = folder()
    const program = fileURLToPath(new URL('killed-writer.mjs', import.meta.url))
    let written = 0
    for (let round = 0; round < 5; round++) {
      const child = spawn(process.execPath, [program, place, String(round)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const done = new Set<string>()
      let text = ''
      await new Promise<void>(resolve => {
        child.stdout.on('data', chunk => {
          text += chunk
          // It runs until it is killed in the middle of a write.
          if (text.split('\n').length > 30 + 10 * round) child.kill('SIGKILL')
        })
        child.on('close', () => resolve())
      })
      expect(child.signalCode).toBe('SIGKILL')
      for (const key of text.split('\n').slice(0, -1)) done.add(key)
      const store = await fileStore({ folder: place })
      expect(readdirSync(join(place, 'drafts'))).toEqual([])
      for (const key of done) {
        const { records } = await store.read(key)
        expect(records, `${key} was written before the kill`).toHaveLength(1)
        const { body, fields } = records[0]!
        expect(fields[1]).toBe(createHash('sha256').update(body!).digest('hex'))
      }
      written += done.size
      await store.close()
    }
    expect(written).toBeGreaterThan(150)
  })
})

test('a cache ends its store', async () => {
  const place = folder()
  const store = await fileStore({ folder: place })
  await cache({ store }).close()
  await (await fileStore({ folder: place })).close()
})
