/** Whatever a reader does, held, inspected and transformed bodies give the same bytes once, and one end. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import type { Flow, Source } from '../pipeline/contract.ts'
import { bytesSource } from '../testing/source.ts'
import { holdSource } from './hold.ts'
import { inspectSource } from './inspect.ts'
import { transformSource } from './transform.ts'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** What a reader does with one chunk. */
type Move = 'take' | 'full' | 'pause'

/** Reads by moves; resumes a turn later whenever it stopped. Goes on for a while after the end. */
async function read(
  source: Source,
  moves: readonly Move[],
): Promise<{ bytes: Buffer; ends: number; fails: ProxyError[]; idle: boolean }> {
  const chunks: Uint8Array[] = []
  const fails: ProxyError[] = []
  let ends = 0
  let stopped = false
  let idle = true
  let at = 0
  let flow: Flow | null = null
  flow = source.start({
    write(bytes) {
      // Not a byte may come while the reader rests, but for what a source pushes before it gives its flow.
      if (stopped && flow) idle = false
      chunks.push(bytes)
      const move = moves[at++ % Math.max(1, moves.length)] ?? 'take'
      if (move === 'take') return true
      stopped = true
      if (move === 'full') return false
      flow?.pause()
      return false
    },
    end: () => void ends++,
    fail: error => void fails.push(error),
  })
  for (let i = 0; i < 400 && ends === 0 && fails.length === 0; i++) {
    await turn()
    if (!stopped) continue
    stopped = false
    flow.resume()
  }
  for (let i = 0; i < 3; i++) await turn()
  return { bytes: Buffer.concat(chunks), ends, fails, idle }
}

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5 }), { maxLength: 10 })
const moves = fc.array(fc.constantFrom<Move>('take', 'full', 'pause'), { maxLength: 6 })
const cx = {} as never
const never = (): never => {
  throw new Error('not to be called')
}

function inspected(source: Source, waits: readonly boolean[], seen: Uint8Array[]): Source {
  let at = 0
  const run = (_: unknown, bytes: Uint8Array) => {
    seen.push(bytes)
    return waits[at++ % Math.max(1, waits.length)] ? turn().then(() => undefined) : undefined
  }
  return inspectSource(source, [{ at: 0, run }], cx, never)
}

const upper = {
  chunk: (bytes: Uint8Array, out: { write(bytes: Uint8Array): boolean }) =>
    void out.write(bytes.map(b => b ^ 1)),
  end: (out: { end(): void }) => out.end(),
}

const kinds: [string, (source: Source, waits: boolean[], hold: number) => Promise<Source>][] = [
  ['held', (source, _, hold) => holdSource(source, hold)],
  ['inspected', async (source, waits) => inspected(source, waits, [])],
  ['transformed twice', async source => transformSource(transformSource(source, upper), upper)],
  ['inspected, then held', (source, waits, hold) => holdSource(inspected(source, waits, []), hold)],
  [
    'inspected, held and transformed',
    async (source, waits, hold) =>
      transformSource(transformSource(await holdSource(inspected(source, waits, []), hold), upper), upper),
  ],
]

describe.each(kinds)('%s', (_, make) => {
  test('the same bytes, once, to one end', async () => {
    await fc.assert(
      fc.asyncProperty(
        chunks,
        moves,
        fc.array(fc.boolean(), { maxLength: 4 }),
        fc.nat(40),
        async (parts, steps, waits, hold) => {
          const got = await read(await make(bytesSource(...parts), waits, hold), steps)
          expect(got.bytes.equals(Buffer.concat(parts))).toBe(true)
          expect({ ends: got.ends, fails: got.fails }).toEqual({ ends: 1, fails: [] })
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('holdSource', () => {
  test('resolves when enough has come, or all', async () => {
    const seen: Uint8Array[] = []
    await holdSource(inspected(bytesSource('ab', 'cd', 'ef'), [], seen), 3)
    expect(Buffer.concat(seen).toString()).toBe('abcd')
    const all: Uint8Array[] = []
    await holdSource(inspected(bytesSource('ab', 'cd'), [], all), 99)
    expect(Buffer.concat(all).toString()).toBe('abcd')
  })

  test('reads no further while nobody has started what it gives', async () => {
    const seen: Uint8Array[] = []
    await holdSource(inspected(bytesSource('ab', 'cd', 'ef', 'gh'), [], seen), 2)
    for (let i = 0; i < 5; i++) await turn()
    expect(Buffer.concat(seen).toString()).toBe('ab')
  })

  test('rejects when the body breaks first', async () => {
    const error = new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' })
    const source: Source = {
      length: null,
      start: sink => {
        setImmediate(() => sink.fail(error))
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    await expect(holdSource(source, 5)).rejects.toBe(error)
  })
})

describe('inspectSource', () => {
  const refusal = { status: 403, headers: {} as never, body: null }

  test.each([false, true])(
    'a refusal (later: %s) cancels the source and breaks the body, once',
    async later => {
      const cancels: ProxyError[] = []
      const given: unknown[] = []
      const source: Source = {
        length: null,
        start(sink) {
          const flow = bytesSource('ab', 'cd', 'ef').start(sink)
          return {
            pause: () => flow.pause(),
            resume: () => flow.resume(),
            cancel: error => {
              cancels.push(error)
              flow.cancel(error)
            },
          }
        },
      }
      const run = (_: unknown, bytes: Uint8Array) => {
        const verdict = Buffer.from(bytes).includes('cd') ? refusal : undefined
        return later ? turn().then(() => verdict) : verdict
      }
      const watched = inspectSource(source, [{ at: 4, run }], cx, (reply, at) => void given.push([reply, at]))
      const got = await read(watched, [])
      expect(String(got.bytes)).toBe('ab')
      expect(got.ends).toBe(0)
      expect(got.fails.map(error => error.code)).toEqual(['refused'])
      expect(cancels).toEqual(got.fails)
      expect(given).toEqual([[refusal, 4]])
    },
  )

  test('a verdict that comes after the reader has gone changes nothing', async () => {
    const given: unknown[] = []
    const run = () =>
      turn()
        .then(turn)
        .then(() => refusal)
    const watched = inspectSource(bytesSource('ab'), [{ at: 0, run }], cx, () => void given.push(1))
    const log: string[] = []
    const flow = watched.start({
      write: () => log.push('write') > 0,
      end: () => void log.push('end'),
      fail: () => void log.push('fail'),
    })
    await turn()
    flow.cancel(new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' }))
    for (let i = 0; i < 5; i++) await turn()
    expect([log, given]).toEqual([[], []])
  })
})
