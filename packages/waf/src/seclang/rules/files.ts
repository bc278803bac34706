/** The files of a rule set, and what they were when they were read. */
import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Mistake } from '../parse/fault.ts'

const MAX_FILE = 16 << 20
const ABSENT = 'absent'

/** Reads files and remembers their state: by it a watcher tells whether they are still the same. */
export class RuleFiles {
  /** For each file its state, for each pattern the files that fitted. Taken before the reading. */
  readonly seen: Map<string, string> = new Map()

  /** The bytes of a file, one character each. @throws Mistake without it. */
  text(file: string): string {
    let state: BigIntStats
    try {
      state = statSync(file, { bigint: true })
      this.seen.set(file, stateOf(state))
      if (state.size > MAX_FILE) throw new Mistake(`${file} is larger than ${MAX_FILE} bytes`, 'Split it.')
      return readFileSync(file, 'latin1')
    } catch (error) {
      if (error instanceof Mistake) throw error
      if (!this.seen.has(file)) this.seen.set(file, ABSENT)
      throw mistakeFor(file, error)
    }
  }

  /** Files that fit a path with `*` and `?` in its last part, sorted. */
  expand(path: string): string[] {
    const name = basename(path)
    if (!isPattern(name)) return [path]
    let entries: string[] = []
    try {
      entries = readdirSync(dirname(path))
    } catch {
      // No folder, no files.
    }
    const files = fitting(path, entries)
    this.seen.set(path, files.join('\n'))
    return files
  }
}

/** What the same files and patterns are now. */
export async function look(seen: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const now = new Map<string, string>()
  for (const path of seen.keys()) {
    if (isPattern(basename(path))) {
      now.set(path, fitting(path, await readdir(dirname(path)).catch(() => [])).join('\n'))
    } else {
      now.set(path, await stat(path, { bigint: true }).then(stateOf, () => ABSENT))
    }
  }
  return now
}

// The number changes with a rename over it and with a link that is swapped, the times with a change in place.
function stateOf({ ino, dev, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

function mistakeFor(file: string, error: unknown): Mistake {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new Mistake(
      `there is no file ${file}`,
      'Check the path; it counts from the folder of the rule file.',
    )
  if (code === 'EISDIR') return new Mistake(`${file} is a folder`, `Write ${join(file, '*.conf')}.`)
  return new Mistake(`${file} can not be read (${String(code)})`, 'Check its permissions.')
}

function isPattern(name: string): boolean {
  return /[*?]/.test(name)
}

function fitting(path: string, entries: readonly string[]): string[] {
  const fits = new RegExp(
    `^${basename(path)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
  return entries
    .filter(entry => fits.test(entry))
    .sort()
    .map(entry => join(dirname(path), entry))
}
