/** Where accounts, certificates and times of attempts are kept: a folder, or whatever machines share. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Awaitable } from '@postern/core'

/**
 * Text by key. Keys are paths of letters, digits, `.`, `_`, `-` and `/`. Private keys are in it: keep it as safe as them.
 * A store that several machines share makes one of them renew and all of them serve.
 */
export interface AcmeStorage {
  read(key: string): Awaitable<string | null>
  /** Whole or not at all. */
  write(key: string, text: string): Awaitable<void>
  remove(key: string): Awaitable<void>
  /** Keys that start with this. */
  list(prefix: string): Awaitable<readonly string[]>
  /**
   * Takes a lock for at most `ttl` ms; `null` when somebody else has it. The function releases it.
   * Losing it by time is not told: an order that is placed twice costs an order.
   */
  lock(key: string, ttl: number): Awaitable<(() => Awaitable<void>) | null>
}

const KEY = /^[\w.-]+(?:\/[\w.-]+)*$/
const LONGEST = 1 << 20

/**
 * Keeps everything in a folder that only its owner may read (0700, files 0600). Files are written beside and moved into
 * place. Locks are files, for processes of machines that share the folder.
 * @example acme({ storage: fileStorage('./acme'), … })
 */
export function fileStorage(dir: string): AcmeStorage {
  const pathOf = (key: string): string => {
    if (!KEY.test(key) || key.split('/').some(part => /^\.+$/.test(part))) throw new Error('a key is no path')
    return join(dir, key)
  }
  async function put(path: string, text: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const draft = `${path}.${randomBytes(6).toString('hex')}.draft`
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
    return draft
  }
  return {
    async read(key) {
      try {
        const path = pathOf(key)
        const { size } = await stat(path)
        return size > LONGEST ? null : await readFile(path, 'utf8')
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    async write(key, text) {
      const path = pathOf(key)
      await rename(await put(path, text), path)
    },
    remove: key => rm(pathOf(key), { force: true }),
    async list(prefix) {
      const names = await readdir(dir, { recursive: true, withFileTypes: true }).catch(error => {
        if (isMissing(error)) return []
        throw error
      })
      return names
        .filter(entry => entry.isFile() && !entry.name.endsWith('.draft'))
        .map(entry => join(entry.parentPath ?? entry.path, entry.name).slice(join(dir, '/').length))
        .filter(key => key.startsWith(prefix))
        .sort()
    },
    async lock(key, ttl) {
      const path = `${pathOf(key)}.lock`
      const owner = randomBytes(12).toString('hex')
      const draft = await put(path, owner)
      try {
        for (let attempt = 0; attempt < 2; attempt++) {
          try {
            // A link is made once, also over NFS; its time is when the lock ends.
            await utimes(draft, new Date(), new Date(Date.now() + ttl))
            await link(draft, path)
            return async () => {
              if ((await readFile(path, 'utf8').catch(() => '')) === owner) await rm(path, { force: true })
            }
          } catch (error) {
            if ((error as { code?: string }).code !== 'EEXIST') throw error
            if (!(await breakLock(path, ttl))) return null
          }
        }
        return null
      } finally {
        await rm(draft, { force: true })
      }
    },
  }
}

/** Keeps everything in this process. For tests, and for machines whose disk does not last. */
export function memoryStorage(): AcmeStorage {
  const texts = new Map<string, string>()
  const locks = new Map<string, number>()
  return {
    read: key => texts.get(key) ?? null,
    write: (key, text) => void texts.set(key, text),
    remove: key => void texts.delete(key),
    list: prefix => [...texts.keys()].filter(key => key.startsWith(prefix)).sort(),
    lock(key, ttl) {
      const now = Date.now()
      const left = (locks.get(key) ?? 0) - now
      if (left > 0 && left <= 2 * ttl) return null
      const end = now + ttl
      locks.set(key, end)
      return () => {
        if (locks.get(key) === end) locks.delete(key)
      }
    },
  }
}

/**
 * Takes away a lock whose time is over; false while it holds. An end that is farther than any lock lasts was written while a clock
 * was wrong. The file is moved, not removed: whoever was quicker has made a new lock by now, and gets it back.
 */
async function breakLock(path: string, ttl: number): Promise<boolean> {
  const moved = `${path}.${randomBytes(6).toString('hex')}.draft`
  try {
    if (holds(await stat(path), ttl)) return false
    await rename(path, moved)
  } catch (error) {
    // Released, or broken by somebody else, in between.
    if (isMissing(error)) return true
    throw error
  }
  try {
    if (!holds(await stat(moved), ttl)) return true
    await link(moved, path).catch(() => {})
    return false
  } finally {
    await rm(moved, { force: true })
  }
}

function holds({ mtimeMs }: { mtimeMs: number }, ttl: number): boolean {
  const left = mtimeMs - Date.now()
  return left > 0 && left <= 2 * ttl
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'ENOENT' || code === 'ENOTDIR'
}
