import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type App, type Filter, pipeline, type Reply, reply } from '../index.ts'
import { testHead } from '../testing/context.ts'

/** What one filter of a random list does. */
interface Plan {
  readonly later: boolean
  readonly request: 'absent' | 'pass' | 'answer' | 'throw'
  readonly reply: 'absent' | 'pass' | 'replace' | 'throw'
  readonly transform: 'absent' | 'none' | 'mark' | 'throw'
}

const plan: fc.Arbitrary<Plan> = fc.record({
  later: fc.boolean(),
  request: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('absent' as const, 'pass' as const) },
    fc.constantFrom('answer' as const, 'throw' as const),
  ),
  reply: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('absent' as const, 'pass' as const) },
    fc.constantFrom('replace' as const, 'throw' as const),
  ),
  transform: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('absent' as const, 'none' as const, 'mark' as const) },
    fc.constant('throw' as const),
  ),
})

function filterOf(at: number, does: Plan, log: string[]): Filter {
  const now = <T>(value: T): T | Promise<T> => (does.later ? Promise.resolve(value) : value)
  const boom = (): Promise<never> => {
    if (does.later) return Promise.reject(new Error('bug'))
    throw new Error('bug')
  }
  const hooks: { -readonly [K in keyof Filter]?: Filter[K] } = {}
  if (does.request !== 'absent') {
    hooks.onRequest = () => {
      log.push(`request ${at}`)
      if (does.request === 'throw') return boom()
      return now(does.request === 'answer' ? reply(210 + at, `answer ${at}`) : undefined)
    }
  }
  if (does.reply !== 'absent') {
    hooks.onReply = (_, head) => {
      log.push(`reply ${at} ${head.status}`)
      if (does.reply === 'throw') return boom()
      if (does.reply === 'pass') head.headers.append('Passed', String(at))
      return now(does.reply === 'replace' ? reply(310 + at, `replaced ${at}`) : undefined)
    }
  }
  if (does.transform !== 'absent') {
    hooks.replyBody = () => {
      log.push(`transform ${at}`)
      if (does.transform === 'throw') throw new Error('bug')
      if (does.transform === 'none') return undefined
      return {
        chunk: (bytes, out) => void out.write(Buffer.concat([bytes, Buffer.from(` ${at}`)])),
        end: out => out.end(),
      }
    }
  }
  return { name: `f${at}`, onDone: () => void log.push(`done ${at}`), ...hooks }
}

const BUG = '500 internal\n'

/** The same walk, written down naively. */
function reference(
  plans: readonly Plan[],
  log: string[],
): { status: number; text: string; filter: string | null } {
  let status = 0
  let text = ''
  let filter: string | null = null
  const walk = (at: number): void => {
    const does = plans[at]
    if (does === undefined) {
      log.push('handler')
      status = 200
      text = 'handler'
      return
    }
    if (does.request !== 'absent') log.push(`request ${at}`)
    if (does.request === 'throw') {
      status = 500
      text = BUG
    } else if (does.request === 'answer') {
      status = 210 + at
      text = `answer ${at}`
      filter = `f${at}`
    } else walk(at + 1)
    if (does.reply === 'absent') return
    log.push(`reply ${at} ${status}`)
    if (does.reply === 'throw') {
      status = 500
      text = BUG
    }
    if (does.reply === 'replace') {
      status = 310 + at
      text = `replaced ${at}`
      filter = `f${at}`
    }
  }
  walk(0)
  const stop = plans.findIndex(does => does.request === 'answer' || does.request === 'throw')
  const entered = stop === -1 ? plans.length : stop + 1
  for (let at = entered - 1; at >= 0; at--) {
    const { transform } = plans[at]!
    if (transform === 'absent') continue
    log.push(`transform ${at}`)
    if (transform === 'throw') {
      status = 500
      text = BUG
      break
    }
    if (transform === 'mark') text += ` ${at}`
  }
  plans.forEach((_, at) => {
    log.push(`done ${at}`)
  })
  return { status, text, filter }
}

function appOf(plans: readonly Plan[], log: string[], handler: () => Reply | Promise<Reply>): App {
  return plans.reduce((chain, does, at) => chain.use(filterOf(at, does, log)), pipeline()).handle(handler)
}

describe('any list of filters', () => {
  test('runs as a naive recursion would, in order, to the same end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { maxLength: 7 }), fc.boolean(), async (plans, later) => {
        const log: string[] = []
        const wanted: string[] = []
        const app = appOf(plans, log, () => {
          log.push('handler')
          return later ? Promise.resolve(reply(200, 'handler')) : reply(200, 'handler')
        })
        const got = await app.inject()
        const expected = reference(plans, wanted)
        expect(log).toEqual(wanted)
        expect({ status: got.status, text: got.text(), filter: got.outcome.filter }).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('makes no promise when nothing has to wait', () => {
    fc.assert(
      fc.property(fc.array(plan, { maxLength: 6 }), plans => {
        const app = appOf(
          plans.map(does => ({ ...does, later: false })),
          [],
          () => reply(200),
        )
        const exchange = app.open(testHead(), null, { draining: false, bytesReceived: 0, inform() {} })
        expect(exchange.run()).not.toBeInstanceOf(Promise)
      }),
    )
  })
})
