/** Own cases for every family of the public suite, in its schema, through a real edge. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { changes } from './families/changes.ts'
import { freshness } from './families/freshness.ts'
import { selection } from './families/selection.ts'
import { failuresOf, runner } from './support/suite.ts'

const present = existsSync(runner)
const folder = present ? mkdtempSync(join(tmpdir(), 'postern-families-')) : ''
afterAll(() => {
  if (present) rmSync(folder, { recursive: true })
})

describe.skipIf(!present)(
  `families of cases${present ? '' : ' (skipped: the runner in ../shared/cache-tests is not there)'}`,
  () => {
    const all = [...freshness, ...selection, ...changes]

    test('each has a name of its own', () => {
      expect(new Set(all.map(one => one.id)).size).toBe(all.length)
    })

    test('all pass', { timeout: 240_000 }, async () => {
      expect(await failuresOf(all, folder, { setCookie: 'store' })).toEqual([])
    })
  },
)
