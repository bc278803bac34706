/** Every pattern finds what it says it finds and lets pass what it says it lets pass, in an engine with all the others. */
import { describe, expect, it } from 'vitest'
import { signatures } from '../engine/signatures.ts'
import { CATEGORIES, type InspectRequest } from '../engine/types.ts'
import { checkPattern } from './check.ts'
import { patterns } from './index.ts'
import type { Pattern } from './pattern.ts'

const aggressive = signatures({ profile: 'aggressive' })

/** A request with the text in the first place in which the pattern counts, or in a form. */
function requestWith(pattern: Pattern, text: string): InspectRequest {
  const place = pattern.places?.[0] ?? 'form'
  const encoded = [...Buffer.from(text, 'latin1')]
    .map(byte => `%${byte.toString(16).padStart(2, '0')}`)
    .join('')
  if (place === 'path') return { method: 'GET', target: text, headers: [] }
  if (place.startsWith('header:')) {
    return { method: 'GET', target: '/', headers: [[place.slice('header:'.length), text]] }
  }
  if (place.startsWith('xml*')) {
    const name = place.slice('xml*'.length)
    const escaped = text.replaceAll('&', '&amp;')
    const xml = pattern.id.endsWith('-element') ? `<x><${text}/></x>` : `<x ${name}="${escaped}"/>`
    const body = Buffer.from(xml)
    return { method: 'POST', target: '/', headers: [['Content-Type', 'application/xml']], body }
  }
  const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const
  return { method: 'POST', target: '/', headers, body: Buffer.from(`q=${encoded}`) }
}

const rulesOf = (pattern: Pattern, text: string): string[] =>
  aggressive.inspect(requestWith(pattern, text)).findings.map(finding => finding.rule)

describe.each(patterns.map(pattern => [pattern.id, pattern] as const))('%s', (id, pattern) => {
  it('finds its attacks', () => {
    for (const text of pattern.match) expect(rulesOf(pattern, text), text).toContain(id)
  })

  it('lets its ordinary texts pass', () => {
    for (const text of pattern.pass) expect(rulesOf(pattern, text), text).not.toContain(id)
  })
})

describe('the list', () => {
  it('has at least 240 patterns in at least 14 categories', () => {
    expect(patterns.length).toBeGreaterThanOrEqual(240)
    expect(new Set(patterns.map(pattern => pattern.category)).size).toBeGreaterThanOrEqual(14)
  })

  it('is right by the check that patterns of users pass', () => {
    const faults: { place: string; problem: string; fix: string }[] = []
    const ids = new Set<string>()
    for (const pattern of patterns) checkPattern(pattern, pattern.id, ids, faults)
    expect(faults).toEqual([])
  })

  it('names each pattern after its category', () => {
    const wrong = patterns.filter(({ id, category }) => !id.startsWith(`${category}-`))
    expect(wrong.map(pattern => pattern.id)).toEqual([])
    expect(CATEGORIES).toContain(patterns[0]!.category)
  })
})
