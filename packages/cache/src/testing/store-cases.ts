/** What every store has to do, as cases that any test runner can run. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import type { CacheRecord, CacheStore, PurgeScope } from '../store/cache-store.ts'

/** One case. */
export interface StoreCase {
  readonly name: string
  /** Rejects when the store fails it. */
  run(): Promise<void>
}

/** How to make the store under test. */
export interface StoreCaseOptions {
  /** An empty store that holds at least 1 MB and 100 records. */
  make(): Promise<CacheStore> | CacheStore
  /** The same store after a restart, for stores that outlive one; default: not tested. */
  reopen?(store: CacheStore): Promise<CacheStore> | CacheStore
}

/** A record with plain values where nothing is said. */
export function storeRecord(of: Partial<CacheRecord> = {}): CacheRecord {
  return {
    key: 'http://a.test/x',
    selector: '/x',
    varyNames: [],
    varyKey: '',
    status: 200,
    fields: [
      'Content-Type',
      'text/plain',
      'X-Bytes',
      'caf\xe9\xff',
      'Set-Cookie',
      'a=b',
      'Set-Cookie',
      'c=d',
    ],
    lifetime: 60_000,
    initialAge: 0,
    responseTime: 1_700_000_000_000,
    tags: [],
    body: Uint8Array.from({ length: 300 }, (_, index) => index % 256),
    ...of,
  }
}

/**
 * The cases.
 * @example for (const { name, run } of storeCases({ make: () => myStore() })) test(name, run)
 */
export function storeCases({ make, reopen }: StoreCaseOptions): StoreCase[] {
  const cases: StoreCase[] = []
  const add = (name: string, run: (store: CacheStore) => Promise<void>): void => {
    cases.push({
      name,
      async run() {
        const store = await make()
        try {
          await run(store)
        } finally {
          await store.close()
        }
      },
    })
  }

  add('gives what was written, byte for byte', async store => {
    const records = [
      storeRecord(),
      storeRecord({ key: 'http://a.test/none', body: null }),
      storeRecord({ key: 'http://a.test/empty', body: new Uint8Array(0) }),
      storeRecord({ key: 'http://a.test/large', body: new Uint8Array(200_000).fill(7) }),
    ]
    for (const record of records) await put(store, record)
    for (const record of records) deepEqual(await all(store, record.key), [record])
    deepEqual(await all(store, 'http://a.test/other'), [])
  })

  add('keeps variants apart, and replaces like by like', async store => {
    const variants = [
      storeRecord({ varyNames: ['a'], varyKey: 'a:1\n', status: 201 }),
      storeRecord({ varyNames: ['a'], varyKey: 'a:2\n', status: 202 }),
      storeRecord({ selector: '/%78', status: 203 }),
    ]
    for (const record of variants) await put(store, record)
    deepEqual(statuses(await all(store)), [201, 202, 203])
    await put(store, { ...variants[0]!, status: 204 })
    deepEqual(statuses(await all(store)), [202, 203, 204])
  })

  add('does not replace a newer record by an older one', async store => {
    await put(store, storeRecord({ responseTime: 2000, status: 200 }))
    await put(store, storeRecord({ responseTime: 1000, status: 410 }))
    deepEqual(statuses(await all(store)), [200])
    await put(store, storeRecord({ responseTime: 3000, status: 404 }))
    deepEqual(statuses(await all(store)), [404])
  })

  const tagged = storeRecord({ tags: ['t', 'u'] })
  const others = [
    storeRecord({ key: 'http://a.test/y', tags: ['v'], status: 201 }),
    storeRecord({ key: 'http://b.test/x', status: 202 }),
  ]
  const scopes: [PurgeScope, number[]][] = [
    [{ kind: 'key', key: 'http://a.test/x' }, [201, 202]],
    [{ kind: 'tag', tag: 'u' }, [201, 202]],
    [{ kind: 'prefix', prefix: 'http://a.test/' }, [202]],
    [{ kind: 'all' }, []],
  ]
  for (const [scope, left] of scopes) {
    add(`${scope.kind}: a purge takes what it covers, and nothing else`, async store => {
      for (const record of [tagged, ...others]) await put(store, record)
      await store.purge(scope)
      deepEqual(await present(store), left)
      // What is written after it stays.
      await put(store, tagged)
      deepEqual(await present(store), [...left, 200].sort())
    })

    add(`${scope.kind}: a write that was begun before a purge is not kept`, async store => {
      const { generation } = await store.read(tagged.key)
      await store.purge(scope)
      await store.write(tagged, generation)
      for (const record of others) await store.write(record, generation)
      deepEqual(await present(store), left)
    })

    add(`${scope.kind}: nor one that is under way`, async store => {
      const { generation } = await store.read(tagged.key)
      const writing = store.write(tagged, generation)
      await store.purge(scope)
      await writing
      deepEqual(statuses(await all(store)), [])
    })
  }

  add('a write that is older than many purges is not kept by mistake', async store => {
    const { generation } = await store.read('x')
    await store.purge({ kind: 'key', key: tagged.key })
    for (let i = 0; i < 3000; i++) await store.purge({ kind: 'tag', tag: `other-${i}` })
    await store.write(tagged, generation)
    deepEqual(await all(store), [])
  })

  add('stands many writes at once to one place', async store => {
    const { generation } = await store.read('x')
    const times = Array.from({ length: 30 }, (_, index) => ((index * 7) % 30) + 1)
    await Promise.all(
      times.map(time =>
        store.write(storeRecord({ responseTime: time, body: new Uint8Array(time) }), generation),
      ),
    )
    const [record, ...rest] = await all(store)
    equal(rest.length, 0)
    // Whichever is there is whole.
    ok(record)
    equal(record.body?.length, record.responseTime)
  })

  if (reopen) {
    add('survives a restart, and its purges do too', async store => {
      for (const record of [tagged, ...others]) await put(store, record)
      await store.purge({ kind: 'tag', tag: 't' })
      const again = await reopen(store)
      try {
        deepEqual(await present(again), [201, 202])
        deepEqual(await all(again, others[0]!.key), [others[0]])
      } finally {
        await again.close()
      }
    })
  }
  return cases

  async function present(store: CacheStore): Promise<number[]> {
    const found = await Promise.all([tagged, ...others].map(record => all(store, record.key)))
    return statuses(found.flat())
  }
}

async function put(store: CacheStore, record: CacheRecord): Promise<void> {
  const { generation } = await store.read(record.key)
  await store.write(record, generation)
}

async function all(store: CacheStore, key = 'http://a.test/x'): Promise<readonly CacheRecord[]> {
  const { records } = await store.read(key)
  return records.map(record => ({
    ...record,
    fields: [...record.fields],
    body: record.body && new Uint8Array(record.body),
  }))
}

function statuses(records: readonly CacheRecord[]): number[] {
  return records.map(record => record.status).sort()
}
