import { expect, test } from 'vitest'
import { boundedTraceState, readTraceParent } from './trace-parent.ts'

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test.each([
  { text: `00-${ID}-${SPAN}-01`, sampled: true },
  { text: `00-${ID}-${SPAN}-00`, sampled: false },
  { text: `00-${ID}-${SPAN}-03`, sampled: true },
  { text: `00-${ID}-${SPAN}-fe`, sampled: false },
  { text: `01-${ID}-${SPAN}-01`, sampled: true },
  { text: `cc-${ID}-${SPAN}-01-what-the-future-brings`, sampled: true },
])('$text is valid', ({ text, sampled }) => {
  expect(readTraceParent(text)).toEqual({ traceId: ID, parentId: SPAN, sampled })
})

test.each([
  '',
  'x',
  `ff-${ID}-${SPAN}-01`,
  `00-${ID}-${SPAN}-01-`,
  `00-${ID}-${SPAN}-01-more`,
  `01-${ID}-${SPAN}-01more`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${ID}-${'0'.repeat(16)}-01`,
  `00-${ID.toUpperCase()}-${SPAN}-01`,
  `00-${ID}-${SPAN.toUpperCase()}-01`,
  `0G-${ID}-${SPAN}-01`,
  `00-${ID}-${SPAN}-0G`,
  `00-${ID}-${SPAN}-1`,
  `00-${ID}-${SPAN}`,
  `00_${ID}_${SPAN}_01`,
  `00-${ID.slice(1)}-${SPAN}-01`,
  `00-${ID}${SPAN}---01`,
  ` 00-${ID}-${SPAN}-01`,
  `00-${ID.slice(1)}g-${SPAN}-01`,
])('%j is invalid', text => {
  expect(readTraceParent(text)).toBeNull()
})

const member = (n: number): string => `k${n}=${'v'.repeat(20)}`

test.each([
  { what: 'nothing', text: undefined, kept: '' },
  { what: 'an empty value', text: '', kept: '' },
  { what: 'two members', text: 'a=1, b@c=2 ', kept: 'a=1,b@c=2' },
  { what: 'empty members', text: 'a=1,,b=2,', kept: 'a=1,b=2' },
  { what: 'no key', text: 'a=1,=2', kept: '' },
  { what: 'no value', text: 'a=1,b', kept: '' },
  { what: 'an upper-case key', text: 'A=1', kept: '' },
  { what: 'bytes above ASCII', text: 'a=\xe9', kept: '' },
  { what: 'a second =', text: 'a=b=c', kept: '' },
  {
    what: 'more than 32 members',
    text: Array.from({ length: 40 }, (_, i) => `k${i}=v`).join(),
    kept: Array.from({ length: 32 }, (_, i) => `k${i}=v`).join(),
  },
  {
    what: 'more than 512 bytes',
    text: Array.from({ length: 30 }, (_, i) => member(i)).join(),
    kept: Array.from({ length: 20 }, (_, i) => member(i)).join(),
  },
])('tracestate with $what', ({ text, kept }) => {
  expect(boundedTraceState(text)).toBe(kept)
  expect(kept.length).toBeLessThanOrEqual(512)
})
