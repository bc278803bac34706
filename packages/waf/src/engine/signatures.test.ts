import { ConfigError } from '@postern/core'
import { describe, expect, it } from 'vitest'
import type { Pattern } from '../patterns/pattern.ts'
import { any, border, edge } from '../patterns/tokens.ts'
import { MOST_FINDINGS, MOST_VALUES } from './inspector.ts'
import { type SignatureOptions, signatures } from './signatures.ts'
import type { InspectRequest } from './types.ts'

const get = (target: string, headers: InspectRequest['headers'] = []): InspectRequest => ({
  method: 'GET',
  target,
  headers,
})
const form = (body: string): InspectRequest => ({
  method: 'POST',
  target: '/',
  headers: [['Content-Type', 'application/x-www-form-urlencoded']],
  body: Buffer.from(body, 'latin1'),
})

const house: Pattern = {
  id: 'rce-house-tool',
  category: 'rce',
  severity: 'high',
  message: 'The tool of the house is called with a switch',
  score: 5,
  literals: ['housectl'],
  before: [any(border, ' ')],
  after: [edge, ' --'],
  match: ['housectl --drop'],
  pass: ['housectl'],
}

function faultsOf(options: object): string[] {
  try {
    signatures(options as SignatureOptions)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(fault => fault.place)
    throw error
  }
  return []
}

describe('signatures', () => {
  it('blocks an attack and tells where and why', () => {
    const { blocked, score, threshold, findings, violation } = signatures().inspect(
      get("/?id=1&q=1'%20or%201=1--"),
    )
    expect({ blocked, threshold, violation }).toEqual({ blocked: true, threshold: 5, violation: null })
    expect(score).toBeGreaterThanOrEqual(5)
    expect(findings[0]).toMatchObject({
      rule: 'sqli-condition',
      category: 'sqli',
      place: 'query.q',
      score: 5,
    })
    expect(findings[0]!.excerpt).toContain("1' or 1=1--")
  })

  it('lets an ordinary request pass, with nothing found', () => {
    const inspection = signatures().inspect(get('/shop?q=blue+shirt&page=2', [['User-Agent', 'curl/8.9.1']]))
    expect(inspection).toEqual({ blocked: false, score: 0, threshold: 5, findings: [], violation: null })
  })

  it('is frozen and keeps nothing between requests', () => {
    const engine = signatures()
    expect(Object.isFrozen(engine)).toBe(true)
    const ordinary = engine.inspect(get('/?q=tea'))
    engine.inspect(get('/?q=%3Cscript%3Ealert(1)%3C/script%3E'))
    expect(engine.inspect(get('/?q=tea'))).toEqual(ordinary)
  })

  it('adds up weak signs of different places', () => {
    const [one, two, three] = [
      'a=1&x=see+/proc/self/environ+now',
      'y=read+information_schema.tables',
      'z=then+alert(1)+b',
    ]
    const engine = signatures()
    expect(engine.inspect(get(`/?${one}`)).blocked).toBe(false)
    const all = engine.inspect(get(`/?${one}&${two}&${three}`))
    expect(all.findings.every(finding => finding.score < 5)).toBe(true)
    expect(all.blocked).toBe(true)
  })

  it('finds more in the profile aggressive', () => {
    const request = get('/?q=please+send+/etc/passwd+over')
    expect(signatures().inspect(request).blocked).toBe(false)
    expect(signatures({ profile: 'aggressive' }).inspect(request).blocked).toBe(true)
  })

  it('takes a threshold', () => {
    const request = get("/?q='%20or%201=1--")
    expect(signatures({ threshold: 100 }).inspect(request)).toMatchObject({ blocked: false, threshold: 100 })
  })

  it('leaves out what is disabled, by category and by id', () => {
    const request = get("/?q=x'%20or%20'a'='a")
    const rules = (options: SignatureOptions): string[] =>
      signatures(options)
        .inspect(request)
        .findings.map(finding => finding.rule)
    expect(rules({})).toContain('sqli-condition')
    expect(rules({ disable: ['sqli-condition'] })).not.toContain('sqli-condition')
    expect(rules({ disable: ['sqli'] }).filter(rule => rule.startsWith('sqli'))).toEqual([])
  })

  it('does not count what the caller excepts', () => {
    const engine = signatures()
    const request = get("/?q='%20or%201=1--")
    const inspection = engine.inspect(
      request,
      (_rule, category, place) => category === 'sqli' && place === 'query.q',
    )
    expect(inspection).toMatchObject({ blocked: false, score: 0, findings: [] })
    expect(engine.inspect(request).blocked).toBe(true)
  })

  it('runs patterns of the user', () => {
    const engine = signatures({ patterns: [house] })
    expect(engine.inspect(get('/?q=housectl+--drop')).findings.map(finding => finding.rule)).toEqual([
      'rce-house-tool',
    ])
    expect(engine.inspect(get('/?q=housectl+-x')).findings).toEqual([])
    expect(
      signatures({ patterns: [house], disable: ['rce-house-tool'] }).inspect(get('/?q=housectl+--drop'))
        .blocked,
    ).toBe(false)
  })

  it.each([
    ['unknown', { unknown: 1 }, 'signatures.unknown'],
    ['profile', { profile: 'paranoid' }, 'signatures.profile'],
    ['threshold', { threshold: 0 }, 'signatures.threshold'],
    ['disable', { disable: ['sqlinjection'] }, 'signatures.disable[0]'],
    ['disable list', { disable: 'sqli' }, 'signatures.disable'],
    ['patterns', { patterns: house }, 'signatures.patterns'],
    ['id taken', { patterns: [house, house] }, 'signatures.patterns[1].id'],
    ['id of ours', { patterns: [{ ...house, id: 'sqli-condition' }] }, 'signatures.patterns[0].id'],
    ['id form', { patterns: [{ ...house, id: 'Bad id' }] }, 'signatures.patterns[0].id'],
    ['score', { patterns: [{ ...house, score: 9 }] }, 'signatures.patterns[0].score'],
    ['literals', { patterns: [{ ...house, literals: [] }] }, 'signatures.patterns[0].literals'],
    ['empty literal', { patterns: [{ ...house, literals: [''] }] }, 'signatures.patterns[0].literals'],
    ['category', { patterns: [{ ...house, category: 'spam' }] }, 'signatures.patterns[0].category'],
    ['severity', { patterns: [{ ...house, severity: 'bad' }] }, 'signatures.patterns[0].severity'],
    ['no cases', { patterns: [{ ...house, match: [] }] }, 'signatures.patterns[0].match'],
    [
      'token',
      { patterns: [{ ...house, after: [{ op: 'run', set: 'z-a', least: 1, most: 1 }] }] },
      'signatures.patterns[0].after',
    ],
    ['no token', { patterns: [{ ...house, after: [{ op: 'regexp' }] }] }, 'signatures.patterns[0].after'],
    ['part', { patterns: [{ ...house, regex: 'x' }] }, 'signatures.patterns[0].regex'],
  ])('refuses a wrong option: %s', (_name, options, place) => {
    expect(faultsOf(options)).toEqual([place])
  })

  it('tells all faults at once', () => {
    expect(faultsOf({ profile: 1, threshold: 'x', extra: true })).toHaveLength(3)
  })
})

describe('bounds', () => {
  it('of findings: the first ones are kept', () => {
    const query = Array.from({ length: 200 }, (_, i) => `p${i}=%3Cscript%3E`).join('&')
    const { findings, blocked } = signatures().inspect(get(`/?${query}`))
    expect(findings.length).toBe(MOST_FINDINGS)
    expect(blocked).toBe(true)
  })

  it('of a rule in one place: it counts once', () => {
    const { findings } = signatures().inspect(form(`q=${'%3Cscript%3E+'.repeat(500)}`))
    expect(findings.filter(finding => finding.rule === 'xss-script-tag')).toHaveLength(1)
  })

  it('of values: a request with more is blocked', () => {
    const engine = signatures({ read: { maxKeys: 1_000_000 } })
    const body = Buffer.from(JSON.stringify(Array.from({ length: MOST_VALUES + 1 }, () => 'ab')))
    const inspection = engine.inspect({
      method: 'POST',
      target: '/',
      headers: [['Content-Type', 'application/json']],
      body,
    })
    expect(inspection.blocked).toBe(true)
    expect(inspection.findings.at(-1)!.rule).toBe('protocol-values')
  })

  it('of excerpts: 80 printable characters', () => {
    const attack = `${'\xe4\n\0'.repeat(40)}%3Cscript%3E${'\xff'.repeat(200)}`
    for (const { excerpt } of signatures().inspect(form(`q=${attack}`)).findings) {
      expect(excerpt).toMatch(/^[\x20-\x7e]{1,80}$/)
    }
  })
})
