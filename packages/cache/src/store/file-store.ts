/**
 * A second level in files, which survives a restart.
 *
 * A record is written under a name of its own and renamed into place: whenever the process ends, a file is whole or not
 * there. Each is checked when the store is opened and whenever it is read; what is damaged is removed, never served.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Check } from '../options.ts'
import {
  type CacheRecord,
  type CacheStore,
  isCovered,
  type PurgeScope,
  recordId,
  type StoreAnswer,
} from './cache-store.ts'
import { decodeRecord, encodeRecord } from './file-format.ts'
import { Generations } from './generations.ts'
import { type Item, Shelf } from './shelf.ts'

/** Options of {@link fileStore}. */
export interface FileStoreOptions {
  /** Folder of this store alone; made if it is not there. One process at a time. */
  folder: string
  /** Bytes of files; default 1 073 741 824 (1 GiB). */
  maxBytes?: number
  /** Files; default 100 000. What is known of each takes about 1 KB of memory. */
  maxEntries?: number
  /** Writes at once; more are dropped. Default 64. */
  maxWrites?: number
}

/** What is known of a file without reading it. */
interface Known extends Item {
  /** Name of the file: no two writes have the same, so removing one never hits another. */
  readonly file: string
  readonly key: string
  readonly tags: readonly string[]
  readonly responseTime: number
}

const NAME = /^([\da-f]{64})-[\da-f]{16}$/
/** Files that are removed at once. */
const AT_ONCE = 64

/**
 * Opens a folder: takes the lock, removes what was being written and what is damaged.
 * @throws ConfigError for options that cannot work. @throws Error when another process has the folder, or it cannot be used.
 */
export async function fileStore(options: FileStoreOptions): Promise<CacheStore> {
  const check = new Check('fileStore')
  check.names('', options, ['folder', 'maxBytes', 'maxEntries', 'maxWrites'])
  if (typeof options.folder !== 'string' || options.folder === '')
    check.fault('folder', 'it is no path', 'Name a folder that the store has to itself.')
  const maxBytes = check.whole('maxBytes', options.maxBytes ?? 1_073_741_824, 65_536, 2 ** 50)
  const maxEntries = check.whole('maxEntries', options.maxEntries ?? 100_000, 1, 16_000_000)
  const maxWrites = check.whole('maxWrites', options.maxWrites ?? 64, 1, 10_000)
  check.done()
  const store = new FileStore(options.folder, maxBytes, maxEntries, maxWrites)
  await store.open()
  return store
}

class FileStore implements CacheStore {
  readonly #records: string
  readonly #drafts: string
  readonly #lock: string
  readonly #maxWrites: number
  readonly #generations = new Generations()
  readonly #keys = new Map<string, Set<string>>()
  readonly #shelf: Shelf<Known>
  /** Files that are being removed. */
  readonly #going = new Set<Promise<void>>()
  #writes = 0
  #closed = false

  constructor(folder: string, maxBytes: number, maxEntries: number, maxWrites: number) {
    this.#records = join(folder, 'records')
    this.#drafts = join(folder, 'drafts')
    this.#lock = join(folder, 'lock')
    this.#maxWrites = maxWrites
    this.#shelf = new Shelf(maxBytes, maxEntries, (id, known) => {
      this.#forget(known.key, id)
      this.#discard(known.file)
    })
  }

  async open(): Promise<void> {
    mkdirSync(this.#records, { recursive: true })
    takeLock(this.#lock)
    rmSync(this.#drafts, { recursive: true, force: true })
    mkdirSync(this.#drafts)
    for (const folder of readdirSync(this.#records)) {
      for (const name of readdirSync(join(this.#records, folder))) {
        const path = join(this.#records, folder, name)
        const id = NAME.exec(name)?.[1]
        const bytes = await readFile(path)
        const record = id === undefined ? null : decodeRecord(bytes)
        if (record === null || idOf(record) !== id) await rm(path, { force: true })
        else this.#know(id, name, record, bytes.length)
      }
    }
  }

  async read(key: string): Promise<StoreAnswer> {
    const generation = this.#generations.current
    const ids = [...(this.#keys.get(key) ?? [])]
    const found = await Promise.all(ids.map(id => this.#load(id)))
    // What was purged while it was read is not given.
    const records = found.filter(
      (record): record is CacheRecord => record !== null && this.#generations.allows(record, generation),
    )
    return { records, generation }
  }

  async write(record: CacheRecord, since: number): Promise<void> {
    if (this.#closed || this.#writes >= this.#maxWrites || !this.#mayWrite(record, since)) return
    this.#writes++
    const id = idOf(record)
    const file = `${id}-${randomBytes(8).toString('hex')}`
    const draft = join(this.#drafts, file)
    try {
      const bytes = encodeRecord(record)
      await writeFile(draft, bytes, { flag: 'wx' })
      // Purges and newer records may have come in the meantime. From here on nothing waits.
      if (this.#closed || !this.#mayWrite(record, since)) return
      mkdirSync(join(this.#records, file.slice(0, 2)), { recursive: true })
      renameSync(draft, this.#path(file))
      this.#know(id, file, record, bytes.length)
    } finally {
      this.#writes--
      await rm(draft, { force: true })
    }
  }

  async purge(scope: PurgeScope): Promise<void> {
    this.#generations.add(scope)
    const ids =
      scope.kind === 'key'
        ? [...(this.#keys.get(scope.key) ?? [])]
        : [...this.#shelf.entries()].filter(([, known]) => isCovered(scope, known)).map(([id]) => id)
    const files: string[] = []
    for (const id of ids) {
      const known = this.#shelf.delete(id)
      if (known === undefined) continue
      this.#forget(known.key, id)
      files.push(this.#path(known.file))
    }
    // None of them is given from here on; when the files are gone, none comes back after a restart either.
    while (files.length > 0) await Promise.all(files.splice(-AT_ONCE).map(path => rm(path, { force: true })))
    await Promise.all([...this.#going])
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    rmSync(this.#lock, { force: true })
  }

  async #load(id: string): Promise<CacheRecord | null> {
    const known = this.#shelf.peek(id)
    if (known === undefined) return null
    known.used = true
    const bytes = await readFile(this.#path(known.file)).catch(() => null)
    const record = bytes && decodeRecord(bytes)
    if (record) return record
    // Damaged or gone: it is not there. Unless it was replaced while it was read.
    if (this.#shelf.peek(id) === known) {
      this.#shelf.delete(id)
      this.#forget(known.key, id)
      this.#discard(known.file)
    }
    return null
  }

  #mayWrite(record: CacheRecord, since: number): boolean {
    const old = this.#shelf.peek(idOf(record))
    return this.#generations.allows(record, since) && !(old && old.responseTime > record.responseTime)
  }

  /** Puts a file that is in place into the books, in the place of an older one. */
  #know(id: string, file: string, { key, tags, responseTime }: CacheRecord, bytes: number): void {
    const old = this.#shelf.peek(id)
    // After a kill, both may be there.
    if (old && old.responseTime > responseTime) return this.#discard(file)
    if (old) this.#discard(old.file)
    if (!this.#shelf.set(id, { file, key, tags, responseTime, bytes, used: false })) {
      this.#forget(key, id)
      return this.#discard(file)
    }
    const ids = this.#keys.get(key)
    if (ids) ids.add(id)
    else this.#keys.set(key, new Set([id]))
  }

  #forget(key: string, id: string): void {
    const ids = this.#keys.get(key)
    if (ids?.delete(id) && ids.size === 0) this.#keys.delete(key)
  }

  /** Nobody waits but a purge: what it took must not come back with an older file. */
  #discard(file: string): void {
    const going = rm(this.#path(file), { force: true })
      .catch(() => {})
      .finally(() => this.#going.delete(going))
    this.#going.add(going)
  }

  #path(file: string): string {
    return join(this.#records, file.slice(0, 2), file)
  }
}

/** Nothing of a client's bytes is in a path. */
function idOf(record: CacheRecord): string {
  return createHash('sha256').update(recordId(record)).digest('hex')
}

/** One process a folder: two would not hear of each other's purges. */
function takeLock(path: string): void {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = Number(readFileSync(path, 'utf8'))
    if (Number.isInteger(owner) && owner > 0 && isRunning(owner))
      throw new Error(`process ${owner} has this cache folder; give each process its own`)
    // Its owner ended without a word.
    rmSync(path, { force: true })
  }
  throw new Error('another process takes this cache folder at this moment')
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
