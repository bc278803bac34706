/** Reads tests of rules from files: YAML of go-ftw, or JSON lines. */
import { readFileSync } from 'node:fs'
import { findFiles } from './find-files.ts'
import { parseGoFtw } from './go-ftw.ts'
import type { FtwTest } from './types.ts'

/** Tests of one file. */
export interface FtwFile {
  readonly file: string
  readonly tests: readonly FtwTest[]
}

/**
 * Reads the tests of files. A path is a file, a folder with all that is in it, or a pattern: `*` and `?` stand for parts of
 * names, `**` for any folders.
 * @throws Error that names the file, and the line of JSON lines, for what is no test; for a pattern that fits nothing.
 */
export function readFtw(...paths: readonly string[]): FtwFile[] {
  return paths.flatMap(findFiles).map(file => ({ file, tests: testsOf(file) }))
}

function testsOf(file: string): FtwTest[] {
  const text = readFileSync(file, 'utf8')
  if (!/\.(?:jsonl|ndjson|json)$/.test(file)) {
    // The suite has files without a test.
    if (text.replace(/^\s*(?:#.*|---)?\s*$/gm, '') === '') return []
    try {
      return parseGoFtw(text)
    } catch (cause) {
      throw new Error(`${file}: ${messageOf(cause)}`, { cause })
    }
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [testOf(JSON.parse(line) as FtwTest)]
    } catch (cause) {
      throw new Error(`${file}:${index + 1}: ${messageOf(cause)}`, { cause })
    }
  })
}

function testOf(test: FtwTest): FtwTest {
  const fits =
    typeof test?.id === 'string' &&
    Array.isArray(test.stages) &&
    test.stages.length > 0 &&
    test.stages.every(
      ({ input, output, backend }) =>
        (input?.sent ?? input?.parsed) &&
        Array.isArray(output?.expectIds) &&
        Array.isArray(output.noExpectIds) &&
        typeof backend?.status === 'number',
    )
  if (!fits) throw new Error('it is no test: id, and stages with input, output and backend, are needed')
  return test
}

function messageOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')[0]!
}
