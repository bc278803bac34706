import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { storeCases, storeRecord } from '../testing/index.ts'
import type { CacheStore } from './cache-store.ts'
import { fileStore } from './file-store.ts'
import { memoryStore } from './memory-store.ts'

const root = mkdtempSync(join(tmpdir(), 'postern-stores-'))
afterAll(() => rmSync(root, { recursive: true }))
const folder = (): string => mkdtempSync(join(root, 'store-'))

describe('memory', () => {
  for (const { name, run } of storeCases({ make: () => memoryStore() })) test(name, run)
})

describe('files', () => {
  const folders = new WeakMap<CacheStore, string>()
  const open = async (place: string): Promise<CacheStore> => {
    const store = await fileStore({ folder: place })
    folders.set(store, place)
    return store
  }
  const cases = storeCases({
    make: () => open(folder()),
    reopen: async store => {
      await store.close()
      return open(folders.get(store)!)
    },
  })
  for (const { name, run } of cases) test(name, run)
})

test.each(['memory', 'files'])('%s: bounds hold', async kind => {
  const bounds = { maxBytes: 100_000, maxEntries: 20 }
  const store = kind === 'memory' ? memoryStore(bounds) : await fileStore({ folder: folder(), ...bounds })
  const record = (i: number, bytes: number) =>
    storeRecord({ key: `http://a.test/${i}`, body: new Uint8Array(bytes) })
  const held = async (count: number): Promise<number> => {
    let found = 0
    for (let i = 0; i < count; i++) found += (await store.read(`http://a.test/${i}`)).records.length
    return found
  }
  for (let i = 0; i < 50; i++) await store.write(record(i, 10), 0)
  expect(await held(50)).toBe(20)
  for (let i = 50; i < 100; i++) await store.write(record(i, 20_000), 0)
  expect(await held(100)).toBeLessThanOrEqual(4)
  await store.write(record(100, 200_000), 0)
  expect((await store.read('http://a.test/100')).records).toEqual([])
  expect((await store.read('http://a.test/99')).records).toHaveLength(1)
  await store.close()
})

test('unknown options are refused', async () => {
  expect(() => memoryStore({ maxByte: 1 } as object)).toThrow('maxByte')
  await expect(fileStore({ folder: '', maxWrites: 0 })).rejects.toThrow(/folder[\s\S]*maxWrites/)
})
