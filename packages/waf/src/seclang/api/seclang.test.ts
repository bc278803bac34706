import { ConfigError } from '@postern/core'
import { describe, expect, it } from 'vitest'
import type { InspectRequest } from '../../engine/types.ts'
import { RuleError } from '../parse/fault.ts'
import { seclang } from './seclang.ts'

const get = (target: string, headers: InspectRequest['headers'] = []): InspectRequest => ({
  method: 'GET',
  target,
  headers: [['Host', 'a.test'], ...headers],
})

describe('seclang()', () => {
  it('runs rules that are written as text', async () => {
    const engine = await seclang({
      rules: `SecRule ARGS:name "@contains evil" "id:1,phase:2,deny,status:403,log,msg:'no %{MATCHED_VAR_NAME}',severity:CRITICAL,tag:attack-sqli"`,
    })
    expect(engine.inspect(get('/?name=good')).blocked).toBe(false)
    const { blocked, findings } = engine.inspect(get('/?name=very+evil'))
    expect(blocked).toBe(true)
    expect(findings).toMatchObject([
      {
        rule: '1',
        category: 'sqli',
        severity: 'critical',
        score: 5,
        place: 'ARGS:name',
        message: 'no ARGS:name',
        excerpt: 'very evil',
      },
    ])
  })

  it('only tells in DetectionOnly', async () => {
    const engine = await seclang({
      mode: 'DetectionOnly',
      rules: 'SecRule ARGS "@rx x" "id:1,phase:1,deny,log"',
    })
    const { blocked, findings } = engine.inspect(get('/?a=x'))
    expect([blocked, findings.length]).toEqual([false, 1])
  })

  it('chains, counts, adds up and skips as the language says', async () => {
    const engine = await seclang({
      rules: `
        SecAction "id:1,phase:1,pass,nolog,setvar:tx.score=0,setvar:tx.limit=5"
        SecRule ARGS "@rx bad(\\d)" "id:2,phase:1,pass,nolog,capture,setvar:tx.score=+%{tx.1}"
        SecRule TX:SCORE "@lt 5" "id:3,phase:1,pass,nolog,skipAfter:END"
        SecRule TX:score "@ge %{tx.limit}" "id:4,phase:1,deny,log,chain,msg:'score %{tx.score}'"
          SecRule &ARGS "@gt 1" "t:none"
        SecMarker END
        SecRule ARGS:last "@streq yes" "id:5,phase:1,pass,log"`,
    })
    expect(engine.inspect(get('/?a=bad3&b=bad3')).findings.map(({ message }) => message)).toEqual(['score 6'])
    expect(engine.inspect(get('/?a=bad9')).blocked).toBe(false)
    expect(engine.inspect(get('/?a=bad3&last=yes')).findings.map(({ rule }) => rule)).toEqual(['5'])
  })

  it('looks into bodies, with the processor that the type calls for', async () => {
    const engine = await seclang({ rules: 'SecRule ARGS "@streq <evil>" "id:1,phase:2,deny,log"' })
    const post = (type: string, body: string) =>
      engine.inspect({
        method: 'POST',
        target: '/',
        headers: [['Content-Type', type]],
        body: Buffer.from(body),
      })
    expect(post('application/json', '{"a":[{"b":"\\u003cevil>"}]}').findings[0]?.place).toBe('ARGS:json.a.b')
    expect(post('application/x-www-form-urlencoded', 'a=%3Cevil%3E').findings[0]?.place).toBe('ARGS:a')
    const multipart = '--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n<evil>\r\n--x--\r\n'
    expect(post('multipart/form-data; boundary=x', multipart).findings[0]?.place).toBe('ARGS:f')
    expect(post('application/json', '{"a":').blocked).toBe(true)
  })

  it('looks at all arguments of a query, however many there are, and refuses so many', async () => {
    const rule = (phase: number) => ({
      rules: `SecRule ARGS "@contains evil" "id:1,phase:${phase},deny,log"`,
    })
    const many = get(`/?${'a&'.repeat(1000)}id=%65vil`)
    const early = await seclang({ ...rule(1), recommended: false })
    expect(early.inspect(many).findings).toMatchObject([{ rule: '1', place: 'ARGS:a&id' }])
    const late = await seclang(rule(2))
    expect(late.inspect(many).findings[0]?.rule).toBe('200007')
    expect(late.inspect(get(`/?${'a&'.repeat(998)}b=c`)).blocked).toBe(false)
  })

  it.each([
    ['a document type with a bracket in quotes', '<!DOCTYPE a SYSTEM "["><a>evil</a>'],
    ['an entity of its own', '<!DOCTYPE a [<!ENTITY x "evil">]><a>&x;</a>'],
    ['an entity that is a bracket', '<!DOCTYPE a [<!ENTITY x "[">]><a>evil</a>'],
    ['a comment in a document type', '<!DOCTYPE a [<!--[-->]><a>evil</a>'],
    ['a comment that does not end', '<a><!--evil</a>'],
    ['a quote in a tag', "<a ' >evil</a>"],
    ['an element that is not closed', '<a><b></a>'],
  ])('refuses XML with %s', async (_, body) => {
    const engine = await seclang({ rules: 'SecRule XML:/* "@contains evil" "id:1,phase:2,deny,log"' })
    const headers: [string, string][] = [['Content-Type', 'application/xml']]
    const request = { method: 'POST', target: '/', headers, body: Buffer.from(body) }
    expect(engine.inspect(request).findings[0]?.rule).toBe('200002')
    const plain = Buffer.from('<?xml version="1.0"?><!DOCTYPE a SYSTEM "a.dtd"><a><b>good</b></a>')
    expect(engine.inspect({ ...request, body: plain }).blocked).toBe(false)
  })

  it.each([
    ['that only filename* calls a file', 'form-data; name="f"; filename*=x', '1'],
    ['with a file name that is empty', 'form-data; name="f"; filename=""', '1'],
    [
      'that is told of twice',
      'form-data; name="f"; filename="x"\r\nContent-Disposition: form-data; name="f"',
      '200002',
    ],
  ])('looks at a part %s', async (_, disposition, rule) => {
    const engine = await seclang({ rules: 'SecRule ARGS "@contains evil" "id:1,phase:2,deny,log"' })
    const body = `--x\r\nContent-Disposition: ${disposition}\r\n\r\nevil\r\n--x--\r\n`
    const headers: [string, string][] = [['Content-Type', 'multipart/form-data; boundary=x']]
    const found = engine.inspect({ method: 'POST', target: '/', headers, body: Buffer.from(body) })
    expect(found.findings[0]?.rule).toBe(rule)
  })

  it('bounds what a short body can blow up to', async () => {
    const engine = await seclang({ rules: 'SecRule ARGS_NAMES "@contains evil" "id:1,phase:2,deny,log"' })
    const rule = (type: string, body: string) =>
      engine.inspect({
        method: 'POST',
        target: '/',
        headers: [['Content-Type', type]],
        body: Buffer.from(body),
      }).findings[0]?.rule
    const members = (key: number, count: number) =>
      `{"${'k'.repeat(key)}":{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}}}`
    expect(rule('application/json', members(100, 900))).toBe(undefined)
    expect(rule('application/json', members(50_000, 900))).toBe('200002')
    expect(rule('application/json', `{"${'k'.repeat(1000)}":[${'1,'.repeat(500)}1]}`)).toBe('200002')
    const part = (lines: number) =>
      `--x\r\n${'A: b\r\n'.repeat(lines)}Content-Disposition: form-data; name="f"\r\n\r\nc\r\n--x--\r\n`
    expect(rule('multipart/form-data; boundary=x', part(15))).toBe(undefined)
    expect(rule('multipart/form-data; boundary=x', part(16))).toBe('200002')
  })

  it('looks at all cookies, however many there are', async () => {
    const engine = await seclang({
      rules: 'SecRule REQUEST_COOKIES "@contains evil" "id:1,phase:1,deny,log"',
    })
    const many = (last: string) => get('/', [['Cookie', `${'a=b;'.repeat(5000)}${last}`]])
    expect(engine.inspect(many('c=evil')).blocked).toBe(true)
    expect(engine.inspect(many('c=good')).blocked).toBe(false)
    expect(engine.inspect(get('/', [['Cookie', 'a=b; c=evil ; ; d']])).findings[0]?.place).toBe(
      'REQUEST_COOKIES:c',
    )
  })

  it('looks at replies', async () => {
    const engine = await seclang({
      rules: 'SecRule RESPONSE_BODY "@contains secret" "id:1,phase:4,deny,log"',
    })
    const headers = [['Content-Type', 'text/html; charset=utf-8']] as const
    expect(
      engine.inspectExchange(get('/'), { status: 200, headers, body: Buffer.from('a secret') }).blocked,
    ).toBe(true)
    expect(
      engine.inspectExchange(get('/'), { status: 200, headers, body: Buffer.from('nothing') }).blocked,
    ).toBe(false)
  })

  it('passes over what is excepted', async () => {
    const engine = await seclang({ rules: 'SecRule ARGS "@rx x" "id:7,phase:1,deny,log,tag:attack-xss"' })
    expect(
      engine.inspect(
        get('/?a=x'),
        (rule, category, place) => rule === '7' && category === 'xss' && place === 'ARGS:a',
      ).blocked,
    ).toBe(false)
    expect(engine.inspect(get('/?b=x'), (_, __, place) => place === 'ARGS:a').blocked).toBe(true)
  })

  it('tells every mistake with its place and the way out', async () => {
    const rules = [
      'SecRule ARGS "@rx (" "id:1"',
      'SecRule ARGZ "@rx a" "id:2"\nSecBogus On\nSecRule ARGS "@rx (?<=a)b" "id:3"\nSecRule ARGS "@nope" "id:4,phase:9"',
    ]
    const error = await seclang({ rules }).then(
      () => null,
      caught => caught,
    )
    expect(error).toBeInstanceOf(RuleError)
    const { faults } = error as RuleError
    expect(faults.map(({ file, line, id }) => [file, line, id])).toEqual([
      ['(rules 1)', 1, 1],
      ['(rules 2)', 1, 2],
      ['(rules 2)', 2, undefined],
      ['(rules 2)', 3, 3],
      ['(rules 2)', 4, 4],
    ])
    expect(faults.every(({ problem, fix }) => problem !== '' && fix !== '')).toBe(true)
    expect(error.message).toContain('lookaround is not supported')
  })

  it('takes lines that are nothing but a continuation', async () => {
    const { rules } = await seclang({ rules: '\\' })
    expect((await seclang({ rules: '\\\n\n\\\nSecAction "id:1,pass,nolog"\n\\' })).rules).toBe(rules + 1)
  })

  it.each([
    [{}, /there are no rules/],
    [{ rule: 'x' }, /no such option/],
    [{ rules: 'SecAction "id:1,pass"', set: { paranoia: 5 } }, /from 1 to 4/],
    [{ rules: 5 }, /no text/],
    [{ rules: 'SecAction "id:1,pass"', set: { variables: { a: "x'" } } }, /quotes/],
    [null, /no object/],
  ])('refuses %j', async (options, problem) => {
    await expect(seclang(options as never)).rejects.toThrow(problem)
    await expect(seclang(options as never)).rejects.toBeInstanceOf(ConfigError)
  })
})
