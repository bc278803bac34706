/** `postern-waf ftw`: tests of rules. */
import { programOf, type RuleEngine } from '../seclang/api/engine.ts'
import { seclang } from '../seclang/api/seclang.ts'
import { openEdge } from '../seclang/testing/edge.ts'
import { isForServers, runFtw } from '../seclang/testing/ftw.ts'
import { readFtw } from '../seclang/testing/read-ftw.ts'
import { ftwSettings } from '../seclang/testing/settings.ts'
import type { FtwTest } from '../seclang/testing/types.ts'
import { given, list, number, RULE_OPTIONS, rulesOf } from './arguments.ts'
import { line, print, UsageError } from './output.ts'

/** What came of one test. */
interface Result {
  readonly outcome: 'passed' | 'failed' | 'refused'
  readonly detail: string
}

export async function ftw(args: readonly string[]): Promise<number> {
  const from = given(args, {
    ...RULE_OPTIONS,
    list: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    edge: { type: 'boolean' },
  })
  const files = rulesOf(from)
  const paranoia = number(from, 'paranoia', 1, 4) ?? 4
  const tests = testsOf(from.files, list(from, 'only'))
  const engine = await seclang({ ...ftwSettings, set: { ...ftwSettings.set, paranoia }, files })
  const results = from.values.edge === true ? await throughEdge(engine, tests) : inMemory(engine, tests)

  if (from.values.list === true)
    for (const [{ id }, { outcome, detail }] of results)
      print(`${outcome} ${line(id)}${detail && `: ${line(detail)}`}`)
  const of = (outcome: Result['outcome']) => results.filter(([, result]) => result.outcome === outcome)
  const failed = of('failed')
  const refused = of('refused')
  if (refused.length > 0) {
    print(`${refused.length} refused by the edge before a rule ran:`)
    for (const [{ id }, { detail }] of refused) print(`  ${line(id)}: ${line(detail)}`)
  }
  if (failed.length > 0) print('failed:')
  for (const [{ id }, { detail }] of failed) print(`  ${line(id)}: ${line(detail)}`)
  const silent = from.values.edge === true ? 0 : tests.filter(isForServers).length
  if (silent > 0)
    print(`${silent} of those that passed expect a status only, which a server decides (see --edge)`)
  print(`${of('passed').length} passed, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

function testsOf(paths: readonly string[], only: readonly string[]): FtwTest[] {
  if (paths.length === 0) throw new UsageError('no file with tests is named')
  let tests: FtwTest[]
  try {
    tests = readFtw(...paths).flatMap(({ tests }) => tests)
  } catch (error) {
    throw new UsageError(line((error as Error).message))
  }
  const chosen =
    only.length === 0 ? tests : tests.filter(({ id }) => only.some(start => id.startsWith(start)))
  if (chosen.length === 0) throw new UsageError('there are no tests')
  return chosen
}

function inMemory(engine: RuleEngine, tests: readonly FtwTest[]): (readonly [FtwTest, Result])[] {
  const program = programOf(engine)!
  return tests.map(test => {
    const problem = runFtw(program, test)
    return [test, { outcome: problem === null ? 'passed' : 'failed', detail: problem ?? '' }]
  })
}

async function throughEdge(
  engine: RuleEngine,
  tests: readonly FtwTest[],
): Promise<(readonly [FtwTest, Result])[]> {
  const edge = await openEdge(engine)
  try {
    const results: (readonly [FtwTest, Result])[] = []
    for (const test of tests) results.push([test, await edge.run(test)])
    return results
  } finally {
    await edge.close()
  }
}
