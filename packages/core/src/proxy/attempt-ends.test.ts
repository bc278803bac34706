/** Whatever an upstream, a reader and the clock do, and in which order: one reply, one end, and silence after it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdSource } from '../body/hold.ts'
import { ProxyError } from '../errors.ts'
import type { Flow, Reply, Sink, Source } from '../pipeline/contract.ts'
import { Exchange } from '../pipeline/exchange.ts'
import { makePlan } from '../pipeline/plan.ts'
import { testHead } from '../testing/context.ts'
import { Attempt } from './attempt.ts'

const broken = new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'upstream-reset' })
const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

/** Hears a body, and says what came after its end. */
function listener(takes: readonly boolean[]) {
  const heard = { ends: 0, fails: 0, late: 0, cancelled: false, bytes: 0 }
  const over = (): boolean => heard.ends + heard.fails > 0 || heard.cancelled
  let at = 0
  const sink: Sink = {
    write(bytes) {
      if (over()) heard.late++
      heard.bytes += bytes.length
      return takes[at++ % Math.max(1, takes.length)] ?? true
    },
    end() {
      if (over()) heard.late++
      heard.ends++
    },
    fail() {
      if (over()) heard.late++
      heard.fails++
    },
  }
  return { heard, sink }
}

const takes = fc.array(fc.boolean(), { maxLength: 5 })

test('an attempt', () => {
  const steps = fc.constantFrom(
    'data',
    'end',
    'error',
    'start',
    'pause',
    'resume',
    'cancel',
    'deadline',
    'abort',
  )
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 14 }), fc.nat(4), takes, (moves, headAt, answers) => {
      const replies: Reply[] = []
      const link = { draining: false, bytesReceived: 0, inform() {} }
      const exchange = new Exchange(
        makePlan('*', [], () => new Promise(() => {})),
        testHead({}),
        {},
        null,
        link,
        null,
      )
      const attempt = new Attempt(exchange, null, reply => void replies.push(reply))
      let cancels = 0
      // What a connector promises: nothing comes after its end, an error or a cancel.
      let open = true
      let flow: Flow | null = null
      attempt.call = {
        resume() {},
        cancel() {
          cancels++
          open = false
        },
      }
      const { heard, sink } = listener(answers)
      let headed = false
      for (const [i, move] of moves.entries()) {
        if (i === headAt && open) {
          headed = true
          attempt.onHead(200, [])
        }
        if (move === 'data' && open && headed) attempt.onData(Buffer.from('x'))
        else if (move === 'end' && open && headed) {
          open = false
          attempt.onEnd([])
        } else if (move === 'error' && open) {
          open = false
          attempt.onError(broken)
        } else if (move === 'deadline' && !attempt.over) attempt.onDeadline()
        else if (move === 'abort') exchange.abort(gone)
        else if (headed && replies[0]?.body === attempt) {
          if (move === 'start') flow ??= attempt.start(sink)
          else if (flow && move === 'pause') flow.pause()
          else if (flow && move === 'resume') flow.resume()
          else if (flow && move === 'cancel') {
            flow.cancel(gone)
            heard.cancelled = true
          }
        }
      }
      expect(replies.length).toBeLessThanOrEqual(1)
      expect(heard.ends + heard.fails).toBeLessThanOrEqual(1)
      expect(heard.late).toBe(0)
      expect(cancels).toBeLessThanOrEqual(1)
      if (!open) expect(replies).toHaveLength(1)
    }),
    { numRuns: 2000 },
  )
})

test('a held body', async () => {
  const steps = fc.constantFrom('data', 'end', 'fail', 'pause', 'resume', 'cancel')
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 14 }), fc.nat(3), takes, async (moves, wanted, answers) => {
      let inner: Sink | null = null
      let open = true
      const source: Source = {
        length: null,
        start(sink) {
          inner = sink
          return {
            pause() {},
            resume() {},
            cancel() {
              open = false
            },
          }
        },
      }
      let held: Source | null = null
      let rejected = 0
      holdSource(source, wanted + 1).then(
        given => {
          held = given
        },
        () => rejected++,
      )
      const { heard, sink } = listener(answers)
      let flow: Flow | null = null
      for (const move of moves) {
        await null
        if (held && !flow) flow = (held as Source).start(sink)
        const into = inner as Sink | null
        if (open && into && (move === 'data' || move === 'end' || move === 'fail')) {
          if (move === 'data') into.write(Buffer.from('x'))
          else {
            open = false
            if (move === 'end') into.end()
            else into.fail(gone)
          }
        } else if (flow && move === 'pause') flow.pause()
        else if (flow && move === 'resume') flow.resume()
        else if (flow && move === 'cancel') {
          flow.cancel(gone)
          heard.cancelled = true
        }
      }
      expect(heard.ends + heard.fails + rejected).toBeLessThanOrEqual(1)
      expect(heard.late).toBe(0)
    }),
    { numRuns: 1000 },
  )
})
