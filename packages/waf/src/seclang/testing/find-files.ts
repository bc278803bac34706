/** Test files by pattern, as suites are laid out: in folders of folders. */
import { readdirSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'

const TESTS = /\.(?:ya?ml|jsonl|ndjson)$/
const MOST_FILES = 100_000

/**
 * Files of a path, sorted. `*` and `?` stand for parts of a name, `**` for any folders; of a folder, all files that hold tests.
 * @throws Error where nothing fits.
 */
export function findFiles(path: string): string[] {
  const [root = '', ...parts] = resolve(path).split(sep)
  const found = fitting(root === '' ? sep : root + sep, parts)
  const files = [...new Set(found.flatMap(file => (isFolder(file) ? testsIn(file) : [file])))].sort()
  if (files.length === 0) throw new Error(`no file fits ${path}`)
  return files
}

function fitting(folder: string, parts: readonly string[]): string[] {
  const [first, ...rest] = parts
  if (first === undefined) return [folder]
  if (first === '**') {
    const inner = entriesOf(folder).filter(name => isFolder(join(folder, name)))
    return [...fitting(folder, rest), ...inner.flatMap(name => fitting(join(folder, name), parts))]
  }
  if (!/[*?]/.test(first)) return fitting(join(folder, first), rest)
  const fits = new RegExp(
    `^${first
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
  return entriesOf(folder)
    .filter(name => fits.test(name))
    .flatMap(name =>
      rest.length > 0 && !isFolder(join(folder, name)) ? [] : fitting(join(folder, name), rest),
    )
}

function testsIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).slice(0, MOST_FILES)
  return names.filter(name => TESTS.test(name)).map(name => join(folder, name))
}

/** Names in a folder, those of hidden files and of links to folders left out: a link may lead back up. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(
        entry =>
          !entry.name.startsWith('.') && !(entry.isSymbolicLink() && isFolder(join(folder, entry.name))),
      )
      .map(({ name }) => name)
  } catch {
    return []
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
