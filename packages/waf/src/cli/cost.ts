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

/** What was spent on a rule. */
interface Spent {
  runs: number
  milliseconds: number
}

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
  const whole = timeOf(() => {
    for (let i = 0; i < rounds; i++) once()
  })
  const spent = metered(program, () => {
    for (let i = 0; i < rounds; i++) once()
  })
  tell(program, spent, requests, rounds, whole, top)
  return 0
}

function timeOf(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function metered(program: RuleProgram, run: () => void): Map<Rule, Spent> {
  const spent = new Map<Rule, Spent>()
  program.meter = (step: Step, milliseconds) => {
    if (step.marker !== null) return
    const known = spent.get(step)
    if (known) {
      known.runs += 1
      known.milliseconds += milliseconds
    } else spent.set(step, { runs: 1, milliseconds })
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
  const runs = rounds * requests.length
  const rules = [...spent].sort(([, a], [, b]) => b.milliseconds - a.milliseconds)
  const sum = rules.reduce((all, [, { milliseconds }]) => all + milliseconds, 0)
  const micro = (milliseconds: number): string => ((milliseconds * 1000) / runs).toFixed(1)
  print(
    `${count(requests.length, 'request')}, ${count(rounds, 'round')}, ${count(program.set.rules.length, 'rule')}`,
    `${micro(whole)} us of CPU a request`,
    `${micro(sum)} us of it in ${count(rules.length, 'rule')} that had to be run, with the measuring itself; the rest is shared`,
    '',
    '      rule  runs/request  us/run  us/request  share  message',
  )
  for (const [rule, { runs: times, milliseconds }] of rules.slice(0, top)) {
    print(
      [
        String(rule.id).padStart(10),
        (times / runs).toFixed(2).padStart(12),
        ((milliseconds * 1000) / times).toFixed(2).padStart(6),
        micro(milliseconds).padStart(10),
        `${((100 * milliseconds) / sum).toFixed(1)}%`.padStart(5),
        line(rule.message?.source ?? '', 60),
      ].join('  '),
    )
  }
  if (rules.length > top) print(`${'...'.padStart(10)}  ${rules.length - top} more (--top)`)
}
