/** The open part of the public suite of HTTP cache tests, through a real edge. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { CacheOptions } from '../src/index.ts'
import { failuresOf, runner, suite } from './support/suite.ts'

const present = existsSync(runner)
const folder = present ? mkdtempSync(join(tmpdir(), 'postern-suite-')) : ''
afterAll(() => {
  if (present) rmSync(folder, { recursive: true })
})

/** RFC 9111 is read otherwise here, or the answers that the suite gives contradict themselves: docs/cache.md says why. */
const IN_DOUBT = [
  'conditional-lm-fresh-no-lm',
  'partial-store-partial-reuse-partial',
  'partial-store-partial-reuse-partial-absent',
  'partial-store-partial-reuse-partial-byterange',
  'partial-store-partial-reuse-partial-suffix',
]

interface Suite {
  tests: { id: string; kind: string; runs_on_proxy: boolean }[]
}

describe.skipIf(!present)(
  `cache-tests${present ? '' : ' (skipped: ../shared/cache-tests is not there)'}`,
  () => {
    function run(options: CacheOptions): Promise<string[]> {
      const { tests }: Suite = JSON.parse(readFileSync(join(suite, 'tests.open.json'), 'utf8'))
      const counted = tests.filter(one => one.runs_on_proxy && one.kind !== 'check')
      expect(counted).toHaveLength(183)
      return failuresOf(counted, folder, options)
    }

    test('all that is required and all that is optimal, but for five in doubt', {
      timeout: 120_000,
    }, async () => {
      expect(await run({ setCookie: 'store' })).toEqual(IN_DOUBT)
    })

    test('the stricter default for Set-Cookie costs two of them', { timeout: 120_000 }, async () => {
      expect(await run({})).toEqual([...IN_DOUBT, 'headers-store-Set-Cookie', 'other-set-cookie'].sort())
    })
  },
)
