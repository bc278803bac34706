/** Rule sets made at random: with and without a plan, a request leaves the same behind. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  endTransaction,
  startTransaction,
  takeRequestBody,
  takeResponseBody,
  takeResponseHead,
} from '../engine/process.ts'
import { RuleProgram } from '../engine/program.ts'
import type { Transaction } from '../engine/transaction.ts'
import { loadRules } from '../rules/load.ts'

const TARGETS = [
  ...[
    'ARGS',
    'ARGS:a',
    'ARGS|!ARGS:a',
    'ARGS|!ARGS:/^b/',
    'ARGS_NAMES',
    'REQUEST_URI|ARGS',
    'ARGS_GET',
    'ARGS_POST',
  ],
  ...[
    'REQUEST_HEADERS',
    'REQUEST_HEADERS:x-odd',
    'REQUEST_HEADERS|!REQUEST_HEADERS:x-odd',
    'REQUEST_COOKIES',
  ],
  ...[
    '&ARGS',
    '&ARGS:a',
    '&REQUEST_HEADERS:x-odd',
    '&TX:one',
    'TX:one',
    'TX:two',
    'TX:/^o/',
    'TX:1',
    'XML:/*',
  ],
  ...[
    'REQBODY_PROCESSOR',
    'REQUEST_METHOD',
    'REQUEST_BODY',
    'RESPONSE_BODY',
    'MATCHED_VAR',
    'RESPONSE_STATUS',
  ],
]
const OPERATORS = [
  ...[
    '@rx a(.)',
    '@rx ^b',
    '@rx (?i)ev.l',
    '@pm evil odd',
    '@contains x',
    '@streq 1',
    '@eq 0',
    '@eq 1',
    '@gt 0',
  ],
  ...[
    '@within abcx',
    '@within %{tx.one}',
    '@streq %{tx.two}',
    '@ge %{tx.one}',
    '@lt 2',
    '@unconditionalMatch',
  ],
  ...['@validateByteRange 32-126', '@validateUtf8Encoding', '@beginsWith %{tx.1}', '@rx ^$', '@endsWith l'],
]
const ACTIONS = [
  ...[
    't:lowercase',
    't:urlDecodeUni',
    't:removeWhitespace',
    't:length',
    'capture',
    'multiMatch',
    'log',
    'nolog',
  ],
  ...['setvar:tx.one=1', 'setvar:tx.one=0', 'setvar:tx.one=+1', 'setvar:tx.two=%{tx.one}', 'setvar:!tx.one'],
  ...['setvar:tx.two=%{MATCHED_VAR}', 'setvar:tx.o_%{tx.1}=x', 'setvar:tx.three=+%{tx.one}'],
]
/** Of a rule, not of a member of its chain. */
const FLOW = [
  ...[
    'pass',
    'pass',
    'pass',
    'deny',
    'allow:phase',
    'severity:CRITICAL',
    "msg:'%{MATCHED_VAR_NAME} %{tx.one} %{tx.0}'",
  ],
  ...[
    'skipAfter:END',
    'skipAfter:MID',
    'skip:1',
    'ctl:ruleRemoveById=3',
    'ctl:ruleRemoveTargetById=5;ARGS:a',
  ],
  ...['ctl:ruleEngine=DetectionOnly', 'ctl:ruleEngine=Off', 'ctl:requestBodyProcessor=JSON', 'tag:evil'],
  'ctl:ruleRemoveByTag=evil',
]

const some = (from: readonly string[], most: number) =>
  fc.uniqueArray(fc.constantFrom(...from), { maxLength: most })
const member = fc.record({
  target: fc.constantFrom(...TARGETS),
  negated: fc.boolean(),
  operator: fc.constantFrom(...OPERATORS),
  actions: some(ACTIONS, 3),
})
const rule = fc.record({
  phase: fc.constantFrom(1, 1, 2, 2, 3, 4, 5),
  action: fc.boolean(),
  members: fc.array(member, { minLength: 1, maxLength: 3 }),
  flow: some(FLOW, 2),
  marker: fc.constantFrom('', '', '', 'MID'),
})
type RuleShape = typeof rule extends fc.Arbitrary<infer T> ? T : never

function written(rules: readonly RuleShape[]): string {
  const lines: string[] = []
  for (const [index, { phase, action, members, flow, marker }] of rules.entries()) {
    if (marker !== '') lines.push(`SecMarker ${marker}`)
    const head = [`id:${index + 1}`, `phase:${phase}`, ...flow]
    if (action) {
      lines.push(
        `SecAction "${[...head, ...members[0]!.actions.filter(one => one.startsWith('setvar'))].join(',')}"`,
      )
      continue
    }
    for (const [place, { target, negated, operator, actions }] of members.entries()) {
      const chain = place + 1 < members.length ? ['chain'] : []
      const all = [...(place === 0 ? head : []), ...actions, ...chain]
      lines.push(
        `SecRule ${target} "${negated ? '!' : ''}${operator}"${all.length > 0 ? ` "${all.join(',')}"` : ''}`,
      )
    }
  }
  return `SecResponseBodyAccess On\n${lines.join('\n')}\nSecMarker END`
}

const text = fc.array(fc.constantFrom('a', 'b', 'x', 'EVIL', 'odd', ' ', '%20', '1', '\xe9', 'o'), {
  maxLength: 4,
})
const word = text.map(parts => parts.join(''))
const request = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  names: fc.array(fc.constantFrom('a', 'b', 'x', 'A'), { maxLength: 3 }),
  value: word,
  odd: fc.option(word),
  cookie: word,
  body: fc.option(word),
  reply: word,
  whole: fc.boolean(),
})
type RequestShape = typeof request extends fc.Arbitrary<infer T> ? T : never

function outcome(program: RuleProgram, shape: RequestShape): unknown {
  const { method, names, value, odd, cookie, body, reply, whole } = shape
  const headers: [string, string][] = [
    ['Host', 'a'],
    ['Cookie', `c=${cookie}`],
  ]
  if (odd !== null) headers.push(['X-Odd', odd])
  if (body !== null) headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
  const target = `/?${names.map(name => `${name}=${value}`).join('&')}`
  const tx = startTransaction(program, { method, target, protocol: 'HTTP/1.1', headers })
  takeRequestBody(tx, body === null ? null : Buffer.from(`a=${body}`, 'latin1'))
  if (whole) {
    takeResponseHead(tx, 200, [['Content-Type', 'text/plain']])
    takeResponseBody(tx, Buffer.from(reply, 'latin1'))
  }
  endTransaction(tx)
  return left(tx)
}

function left(tx: Transaction): unknown {
  return {
    matches: tx.matches.map(match => [match.rule.id, match.message, match.variable, match.value]),
    variables: tx.collection('TX').map(({ key, value }) => [key, value]),
    interruption: tx.interruption,
    severity: tx.highestSeverity,
    mode: tx.mode,
  }
}

it('leaves the same behind', { timeout: 600_000 }, () => {
  let planned = 0
  let found = 0
  const sets = fc.array(rule, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(sets, fc.array(request, { minLength: 1, maxLength: 4 }), (shapes, requests) => {
      const source = written(shapes)
      const quick = new RuleProgram(loadRules([{ text: source }]))
      const plain = new RuleProgram(loadRules([{ text: source }]), { plain: true })
      if (quick.plan !== null) planned += 1
      for (const shape of requests) {
        const expected = outcome(plain, shape)
        // Twice: what is kept of a value must not change anything.
        expect(outcome(quick, shape), source).toEqual(expected)
        expect(outcome(quick, shape), source).toEqual(expected)
        if ((expected as { matches: unknown[] }).matches.length > 0) found += 1
      }
    }),
    { numRuns: Number(process.env.POSTERN_RUNS ?? 700) },
  )
  expect(planned).toBeGreaterThan(100)
  expect(found).toBeGreaterThan(100)
})
