/** `postern-waf cost`: which rules take the time. */
import type { InspectRequest } from '../engine/types.ts'
import { programOf } from '../seclang/api/engine.ts'
import { seclang } from '../seclang/api/seclang.ts'
import type { RuleProgram } from '../seclang/engine/program.ts'
import type { Rule, Step } from '../seclang/rules/model.ts'
import { given, number, RULE_OPTIONS, rulesOf } from './arguments.ts'
import { count, line, print, UsageError } from './output.ts'
import { read } from './request.ts'
import { requestsIn, USUAL } from './requests.ts'

/** Milliseconds of the runs of a rule; of the first thousands only. */
interface Spent {
  runs: number
  readonly samples: number[]
}

const MOST_SAMPLES = 5000
/** Runs that are not counted: code that runs often is compiled anew. */
const WARM_UP = 20

export async function cost(args: readonly string[]): Promise<number> {
  const from = given(args, { ...RULE_OPTIONS, rounds: { type: 'string' }, top: { type: 'string' } })
  const files = rulesOf(from)
  const rounds = number(from, 'rounds', 1, 100_000) ?? 200
  const top = number(from, 'top', 1, 10_000) ?? 15
  const paranoia = number(from, 'paranoia', 1, 4) ?? 1
  const [file, ...more] = from.files
  if (more.length > 0)
    throw new UsageError(`one file of requests at a time: ${line(more.join(' '))} is too much`)
  const requests = file === undefined ? USUAL : requestsIn(file, read(file))
  const engine = await seclang({ files, set: { paranoia }, mode: 'DetectionOnly' })
  const program = programOf(engine)!

  const once = (): void => {
    for (const request of requests) engine.inspect(request)
  }
  for (let i = 0; i < WARM_UP; i++) once()
  const whole: number[] = []
  for (let i = 0; i < rounds; i++) {
    const start = performance.now()
    once()
    whole.push((performance.now() - start) / requests.length)
  }
  const spent = metered(program, () => {
    for (let i = 0; i < rounds; i++) once()
  })
  tell(program, spent, requests, rounds, median(whole), top)
  return 0
}

/** The middle one: on a machine that does other things as well, means tell of these. */
function median(samples: number[]): number {
  return samples.sort((a, b) => a - b)[samples.length >> 1]!
}

function metered(program: RuleProgram, run: () => void): Map<Rule, Spent> {
  const spent = new Map<Rule, Spent>()
  program.meter = (step: Step, milliseconds) => {
    if (step.marker !== null) return
    let known = spent.get(step)
    if (known === undefined) {
      known = { runs: 0, samples: [] }
      spent.set(step, known)
    }
    known.runs += 1
    if (known.samples.length < MOST_SAMPLES) known.samples.push(milliseconds)
  }
  run()
  program.meter = null
  return spent
}

function tell(
  program: RuleProgram,
  spent: ReadonlyMap<Rule, Spent>,
  requests: readonly InspectRequest[],
  rounds: number,
  whole: number,
  top: number,
): void {
  const all = rounds * requests.length
  const rules = [...spent].map(([rule, { runs, samples }]) => {
    const each = median(samples)
    return { rule, runs: runs / all, each, cost: (runs / all) * each }
  })
  rules.sort((a, b) => b.cost - a.cost)
  const sum = rules.reduce((total, { cost }) => total + cost, 0)
  const micro = (milliseconds: number): string => (milliseconds * 1000).toFixed(1)
  print(
    `${count(requests.length, 'request')}, ${count(rounds, 'round')}, ${count(program.set.rules.length, 'rule')}`,
    `${micro(whole)} us a request (median)`,
    `${micro(sum)} us in ${count(rules.length, 'rule')} that had to be run; the rest is shared by all`,
    '',
    '      rule  runs/request  us/run  us/request  share  message',
  )
  for (const { rule, runs, each, cost } of rules.slice(0, top)) {
    print(
      [
        String(rule.id).padStart(10),
        runs.toFixed(2).padStart(12),
        micro(each).padStart(6),
        micro(cost).padStart(10),
        `${((100 * cost) / sum).toFixed(1)}%`.padStart(5),
        line(rule.message?.source ?? '', 60),
      ].join('  '),
    )
  }
  if (rules.length > top) print(`${'...'.padStart(10)}  ${rules.length - top} more (--top)`)
}
