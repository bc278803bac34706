import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import type { ForwardHead } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { type TraceContextOptions, traceContext } from './trace-context.ts'

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const PARENT = `00-${ID}-${SPAN}-01`
const random = (bytes: number): string => 'a1'.repeat(bytes)
const NEW_ID = random(16)
const NEW_SPAN = random(8)

const forwarded = (options: TraceContextOptions, raw: string[], peerTrusted = false): string[] => {
  const gate = traceContext({ random, ...options })
  const headers = new HeaderList(raw)
  const cx = testContext({ headers, peerTrusted }, gate.state!())
  expect(gate.onRequest?.(cx)).toBeUndefined()
  const out = { headers: headers.clone() }
  gate.onForward?.(cx, out as ForwardHead)
  return out.headers.raw
}

test.each([
  { what: 'none came', options: {}, raw: [], out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-01`] },
  { what: 'none came, none is made', options: { generate: false }, raw: [], out: [] },
  {
    what: 'one came',
    options: {},
    raw: ['Traceparent', PARENT, 'Tracestate', 'a=1', 'tracestate', 'b=2'],
    out: ['traceparent', `00-${ID}-${NEW_SPAN}-01`, 'tracestate', 'a=1,b=2'],
  },
  {
    what: 'it is not sampled',
    options: {},
    raw: ['traceparent', `00-${ID}-${SPAN}-00`],
    out: ['traceparent', `00-${ID}-${NEW_SPAN}-00`],
  },
  {
    what: 'two came',
    options: {},
    raw: ['traceparent', PARENT, 'traceparent', PARENT, 'tracestate', 'a=1'],
    out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-01`],
  },
  {
    what: 'an invalid one came',
    options: {},
    raw: ['traceparent', PARENT.toUpperCase(), 'tracestate', 'a=1'],
    out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-01`],
  },
  {
    what: 'an invalid one came, none is made',
    options: { generate: false },
    raw: ['traceparent', 'junk', 'tracestate', 'a=1', 'accept', '*/*'],
    out: ['accept', '*/*'],
  },
  {
    what: 'only trusted peers may, and this is none',
    options: { accept: 'trusted' },
    raw: ['traceparent', PARENT],
    out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-01`],
  },
  {
    what: 'nobody may',
    options: { accept: 'never' },
    raw: ['traceparent', PARENT],
    out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-01`],
  },
  {
    what: 'sampling is off',
    options: { sampleRatio: 0 },
    raw: [],
    out: ['traceparent', `00-${NEW_ID}-${NEW_SPAN}-00`],
  },
] as const)('$what', ({ options, raw, out }) => {
  expect(forwarded(options, [...raw])).toEqual(out)
})

test('a trusted peer is listened to', () => {
  expect(forwarded({ accept: 'trusted' }, ['traceparent', PARENT], true)).toEqual([
    'traceparent',
    `00-${ID}-${NEW_SPAN}-01`,
  ])
})

test('the state tells who the parent is', () => {
  const gate = traceContext({ random })
  const cx = testContext({ headers: { traceparent: PARENT } }, gate.state!())
  gate.onRequest?.(cx)
  expect(cx.state.trace).toEqual({ traceId: ID, spanId: NEW_SPAN, parentId: SPAN, sampled: true, state: '' })
})

test('a ratio samples by the id', () => {
  const sampled = (id: string): boolean | undefined => {
    const gate = traceContext({ sampleRatio: 0.25, random: bytes => (bytes === 16 ? id : NEW_SPAN) })
    const cx = testContext({}, gate.state!())
    gate.onRequest?.(cx)
    return cx.state.trace?.sampled
  }
  expect(sampled(`${'f'.repeat(24)}3fffffff`)).toBe(true)
  expect(sampled(`${'f'.repeat(24)}40000000`)).toBe(false)
})

test.each([{ accept: 'maybe' }, { sampleRatio: 1.1 }, { sampleRatio: -1 }, { sampleRatio: Number.NaN }])(
  '%j is refused',
  options => {
    expect(() => traceContext(options as TraceContextOptions)).toThrow(ConfigError)
  },
)
