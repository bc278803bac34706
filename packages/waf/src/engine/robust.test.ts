/** Damaged cases of all patterns: an inspection never throws, keeps its bounds, and is the same each time. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patterns } from '../patterns/index.ts'
import { signatures } from './signatures.ts'
import type { InspectRequest } from './types.ts'

const texts = patterns.flatMap(pattern => [...pattern.match, ...pattern.pass, ...pattern.literals])
const marks = [
  '\0',
  '%',
  '%25',
  '%u0027',
  '%c0%ae',
  '&#x',
  '&lt',
  '\\u',
  "'",
  '"',
  '`',
  '<',
  '/*',
  '--',
  ';',
  '\r\n',
  '\xff',
  '${',
]

const damaged = fc
  .tuple(
    fc.constantFrom(...texts),
    fc.constantFrom(...marks),
    fc.nat(200),
    fc.integer({ min: 1, max: 3 }),
    fc.nat(3),
  )
  .map(([text, mark, at, times, how]) => {
    const cut = text.slice(0, at) + (how === 0 ? '' : mark) + text.slice(how === 1 ? at + 1 : at)
    return how === 2 ? Buffer.from(cut, 'latin1').toString('base64') : cut.repeat(times)
  })
const values = fc.array(damaged, { minLength: 1, maxLength: 3 }).map(list => list.join(' '))

function requests(text: string): InspectRequest[] {
  const encoded = encodeURIComponent(text)
  return [
    { method: 'GET', target: `/?q=${encoded}`, headers: [['Referer', text]] },
    {
      method: 'POST',
      target: '/',
      headers: [['Content-Type', 'text/plain']],
      body: Buffer.from(text, 'latin1'),
    },
  ]
}

it('holds for ten thousand of them', { timeout: 120_000 }, () => {
  const engines = [signatures(), signatures({ profile: 'aggressive' })]
  fc.assert(
    fc.property(values, text => {
      for (const request of requests(text)) {
        for (const engine of engines) {
          const { blocked, score, threshold, findings, violation } = engine.inspect(request)
          expect(blocked).toBe(violation !== null || score >= threshold)
          expect(findings.length).toBeLessThanOrEqual(65)
          for (const { excerpt, place } of findings) expect(`${excerpt}${place}`).toMatch(/^[\x20-\x7e]+$/)
          expect(engine.inspect(request).score).toBe(score)
        }
      }
    }),
    { numRuns: 2500 },
  )
})
