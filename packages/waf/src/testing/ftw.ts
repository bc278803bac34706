/** Tests of rules in the format of go-ftw as suites of a test runner. */
import type { Engine } from '../engine/types.ts'
import { programOf } from '../seclang/api/engine.ts'
import { isForServers, runFtw as runOn } from '../seclang/testing/ftw.ts'
import { readFtw } from '../seclang/testing/read-ftw.ts'
import type { FtwTest } from '../seclang/testing/types.ts'

export { type FtwFile, readFtw } from '../seclang/testing/read-ftw.ts'
export { ftwSettings, ruleFiles } from '../seclang/testing/settings.ts'
export type {
  FtwBackend,
  FtwBody,
  FtwHead,
  FtwInput,
  FtwOutput,
  FtwStage,
  FtwTest,
} from '../seclang/testing/types.ts'

/**
 * Runs one test and gives the reason why it failed, `null` when it passed. The rules' log decides; a status, which only a
 * server gives, is not looked at.
 * @throws TypeError for an engine that is not made by `seclang()`.
 */
export function runFtw(engine: Engine, test: FtwTest): string | null {
  const program = programOf(engine)
  if (program === null) throw new TypeError('runFtw takes an engine that seclang() has made')
  return runOn(program, test)
}

/** `describe` and `test` of Vitest, Jest or another runner that has them. */
export interface SuiteApi {
  describe(name: string, body: () => void): unknown
  readonly test: {
    (name: string, body: () => void | Promise<void>): unknown
    skip(name: string, body: () => void): unknown
  }
}

/** Options of `describeFtw`. */
export interface DescribeFtwOptions {
  /** Ids of tests to pass over, with the reason, which stands in the report; default none. */
  skip?: Readonly<Record<string, string>>
}

/** Declares a suite for each file, and a test for each of its tests. */
export type DescribeFtw = (
  engine: Engine | Promise<Engine>,
  files: string | readonly string[],
  options?: DescribeFtwOptions,
) => void

/**
 * Makes `describeFtw` for a test runner. For Vitest it stands ready in `@postern/waf/testing/vitest`.
 * @example const describeFtw = ftwSuites({ describe, test })
 */
export function ftwSuites({ describe, test }: SuiteApi): DescribeFtw {
  return function describeFtw(engine, files, { skip = {} } = {}) {
    // What fails here is told by the tests; until one asks, it must not end the process.
    const ready = Promise.resolve(engine)
    ready.catch(() => {})
    for (const { file, tests } of readFtw(...[files].flat())) {
      if (tests.length === 0) continue
      describe(file, () => {
        for (const one of tests) {
          const reason = Object.hasOwn(skip, one.id)
            ? skip[one.id]
            : isForServers(one)
              ? 'only a server can answer'
              : undefined
          if (reason !== undefined) test.skip(`${one.id} (skipped: ${reason})`, () => {})
          else
            test(one.id, async () => {
              const problem = runFtw(await ready, one)
              if (problem !== null) throw new Error(`${one.id}: ${problem}`)
            })
        }
      })
    }
  }
}
