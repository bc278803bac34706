/** No request, however odd, makes the engine throw, and the plan never changes what it finds. */
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { preamble } from '../api/recommended.ts'
import { loadRules, type RuleSource } from '../rules/load.ts'
import { endTransaction, startTransaction, takeRequestBody } from './process.ts'
import { RuleProgram } from './program.ts'

const folder = '../shared/crs'
const there = existsSync(`${folder}/rules`)

const PIECES = [
  ...[
    "'",
    '"',
    '<script>',
    '../',
    '%00',
    '%u002f',
    '{',
    '}',
    '[',
    ']',
    '--x',
    '\r\n',
    '\n',
    ';',
    '=',
    '&',
    '\\',
    '\0',
  ],
  ...[
    'union select',
    '${jndi:',
    '<?xml version="1.0"?>',
    '<a b="',
    'Content-Disposition: form-data; name="a"',
    '\xc0\xaf',
    '\xff',
  ],
  ...['1', 'a', ' ', '+', '/*', '*/', '#', '`', '$(', '|', '%', '\u00e9', 'filename="', '--x--'],
]
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map(parts => parts.join(''))
const TYPES = [
  'application/json',
  'text/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'text/plain',
  '',
]
const requests = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'X', ''),
  target: text.map(part => `/${part}`),
  type: fc.constantFrom(...TYPES),
  header: text,
  body: text,
})

describe.skipIf(!there)('the Core Rule Set under odd requests (skipped: ../shared/crs is not there)', () => {
  const sources: RuleSource[] = [
    { text: preamble({ mode: 'DetectionOnly', set: { paranoia: 4 } }) },
    { path: `${folder}/crs-setup.conf.example` },
    { path: `${folder}/rules/*.conf` },
  ]

  it('throws nothing, and finds the same without the plan', { timeout: 120_000 }, () => {
    const quick = new RuleProgram(loadRules(sources))
    const slow = new RuleProgram(loadRules(sources), { plain: true })
    const found = (
      program: RuleProgram,
      request: { method: string; target: string; type: string; header: string; body: string },
    ) => {
      const headers: [string, string][] = [
        ['Host', 'a.test'],
        ['X-Odd', request.header],
        ['Cookie', request.header],
      ]
      if (request.type !== '') headers.push(['Content-Type', request.type])
      const tx = startTransaction(program, {
        method: request.method,
        target: request.target,
        protocol: 'HTTP/1.1',
        headers,
      })
      takeRequestBody(tx, Buffer.from(request.body, 'latin1'))
      endTransaction(tx)
      return tx.matches.map(({ rule, variable, data }) => `${rule.id} ${variable} ${data}`)
    }
    fc.assert(
      fc.property(requests, request => {
        expect(found(quick, request)).toEqual(found(slow, request))
      }),
      { numRuns: 300 },
    )
  })
})
