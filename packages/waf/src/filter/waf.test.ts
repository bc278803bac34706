import { ConfigError, type Context, type Outcome, pipeline, reply } from '@postern/core'
import { readSource } from '@postern/core/testing'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { WafOptions, WafReport } from './index.ts'
import { words } from './support/words.ts'
import { type WafState, waf } from './waf.ts'

/** An app behind the filter that gives back what it was sent; reports and ends are kept. */
function appOf(options: WafOptions = {}) {
  const reports: WafReport[] = []
  const ends: Outcome[] = []
  const states: (WafReport | null)[] = []
  const echo = async (cx: Context<WafState<'waf'>>) => {
    states.push(cx.state.waf)
    return reply(200, cx.body && (await readSource(cx.body)).bytes)
  }
  const app = pipeline()
    .use({ name: 'watch', onDone: (_cx, outcome) => void ends.push(outcome) })
    .use(waf(words(), { onFindings: report => void reports.push(report), ...options }))
    .route('/notes/:id', r => r.handle(echo))
    .handle(echo)
  return { app, reports, ends, states }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

describe('block', () => {
  test('what is clean passes, with a report and no line', async () => {
    const { app, reports, states } = appOf()
    expect((await app.inject({ path: '/?a=odd' })).status).toBe(200)
    expect(states[0]).toMatchObject({
      blocked: false,
      score: 2,
      line: 'passed 2/5 rce-odd@query.a',
      engine: 'words',
    })
    await app.inject({ path: '/?a=b' })
    expect(states[1]).toMatchObject({ blocked: false, findings: [], line: '' })
    expect(reports).toHaveLength(1)
  })

  test('the reply says nothing of the reason; the outcome does', async () => {
    const { app, reports } = appOf()
    const { status, headers, text, outcome } = await app.inject({ path: '/?a=evil' })
    expect([status, text()]).toEqual([403, '403 forbidden\n'])
    expect(headers.raw).toEqual([
      ...['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '14', 'Cache-Control', 'no-store'],
    ])
    expect(outcome).toMatchObject({ filter: 'waf', reason: 'waf-rce', status: 403 })
    expect(reports[0]).toMatchObject({ blocked: true, mode: 'block', line: 'blocked 5/5 rce-evil@query.a' })
  })

  test.each([
    ['path', { path: '/evil' }],
    ['raw target, not the canonical path', { path: '/a/../evil/../b' }],
    ['header', { headers: { Referer: 'http://evil' } }],
    ['second of two headers', { headers: { 'X-A': ['fine', 'evil'] } }],
    ['cookie', { headers: { Cookie: 'a=1; b=evil' } }],
    ['JSON', { headers: JSON_TYPE, body: '{"a":"ev\\u0069l"}' }],
    ['form', { headers: FORM, body: 'a=1&b=evil' }],
    ['a body without a type', { body: 'evil' }],
    ['a body of GET', { method: 'GET', body: 'evil' }],
    ['a body of DELETE', { method: 'DELETE', headers: JSON_TYPE, body: '"evil"' }],
    ['odd in three places', { path: '/?a=odd&b=odd', headers: { Cookie: 'c=odd' } }],
    ['bad form', { headers: JSON_TYPE, body: '{"a":1,"a":2}' }],
  ])('%s', async (_, request) => {
    const { app } = appOf()
    expect((await app.inject(request)).status).toBe(403)
  })

  test('bad form has one reason', async () => {
    const { app, reports } = appOf()
    expect((await app.inject({ headers: JSON_TYPE, body: '{' })).outcome.reason).toBe('waf-form')
    expect(reports[0]!.line).toBe('blocked 0/5 json-syntax@json')
  })

  test('bytes that were looked at are the bytes that go on', async () => {
    const { app } = appOf()
    const body = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) & 0xff))
    const type = { 'Content-Type': 'application/octet-stream' }
    const chunks = [body.subarray(0, 1), body.subarray(1, 2000), body.subarray(2000)]
    expect(Buffer.from((await app.inject({ headers: type, body: chunks })).body).equals(body)).toBe(true)
  })

  test('chunked at any place gives the same findings', async () => {
    const text = '{"a":"evil","b":["odd",{"c":"\\u00e9vil"}],"d":"so odd"}'
    const bytes = Buffer.from(text)
    const whole = appOf({ mode: 'shadow' })
    await whole.app.inject({ headers: JSON_TYPE, body: bytes })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async cuts => {
        const { app, reports } = appOf({ mode: 'shadow' })
        const borders = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const body = borders.slice(1).map((to, i) => bytes.subarray(borders[i], to))
        await app.inject({ headers: JSON_TYPE, body })
        expect(reports).toEqual(whole.reports)
      }),
      { numRuns: 60 },
    )
  })
})

describe('shadow', () => {
  test('everything passes, and is told', async () => {
    const { app, reports } = appOf({ mode: 'shadow' })
    const { status, body } = await app.inject({ headers: JSON_TYPE, body: '["evil"' })
    expect([status, Buffer.from(body).toString()]).toEqual([200, '["evil"'])
    expect(reports[0]).toMatchObject({ blocked: true, mode: 'shadow' })
    expect(reports[0]!.line).toBe('would block 10/5 json-syntax@json[0] rce-evil@json[0] rce-evil@body')
  })

  test('a long body passes too, looked at in part', async () => {
    const { app, reports, states } = appOf({ mode: 'shadow', maxBody: 1024 })
    const long = `evil${'x'.repeat(4000)}`
    expect((await app.inject({ headers: { 'Content-Type': 'text/plain' }, body: long })).text()).toBe(long)
    expect(reports[0]).toMatchObject({ blocked: true, partial: true })
    expect(states).toHaveLength(1)
  })
})

describe('exceptions', () => {
  test.each([
    ['rule', { rule: 'rce-evil' }],
    ['rule pattern', { rule: 'rce-*' }],
    ['category', { category: 'rce' }],
    ['place', { place: 'query.a' }],
    ['place pattern', { place: 'query.*' }],
    ['route', { route: '/notes/:id', place: 'query.a' }],
  ] as const)('by %s', async (_, exception) => {
    const { app, states } = appOf({ exceptions: [exception] })
    expect((await app.inject({ path: '/notes/1?a=evil' })).status).toBe(200)
    expect(states[0]).toMatchObject({ blocked: false, score: 0, findings: [] })
  })

  test('elsewhere the rule still holds', async () => {
    const { app } = appOf({ exceptions: [{ route: '/notes/:id', place: 'query.a' }] })
    expect((await app.inject({ path: '/notes/1?b=evil' })).status).toBe(403)
    expect((await app.inject({ path: '/other?a=evil' })).status).toBe(403)
    expect((await app.inject({ path: '/notes/1?a=evil&%61=fine&a.b=evil' })).status).toBe(403)
  })

  test('a fault of form can be excepted; what was seen still counts', async () => {
    const { app } = appOf({ exceptions: [{ rule: 'json-duplicate-key' }] })
    expect((await app.inject({ headers: JSON_TYPE, body: '{"a":1,"a":2}' })).status).toBe(200)
    expect((await app.inject({ headers: JSON_TYPE, body: '{"a":1,"a":"evil"}' })).status).toBe(403)
    expect((await app.inject({ headers: JSON_TYPE, body: '{"a":1,}' })).status).toBe(403)
  })
})

describe('limit', () => {
  const type = { 'Content-Type': 'text/plain' }

  test('a body of exactly the limit passes, one byte more is 413', async () => {
    const { app, ends } = appOf({ maxBody: 1024 })
    expect((await app.inject({ headers: type, body: 'x'.repeat(1024) })).status).toBe(200)
    expect((await app.inject({ headers: type, body: 'x'.repeat(1025) })).status).toBe(413)
    expect(
      (await app.inject({ headers: type, body: [Buffer.alloc(1000, 'x'), Buffer.alloc(25, 'x')] })).status,
    ).toBe(413)
    expect(ends.at(-1)).toMatchObject({ reason: 'body-too-large', filter: 'waf' })
  })

  test('B085: padding does not hide what stands behind it', async () => {
    const { app } = appOf({ maxBody: 128 << 10 })
    for (const [kind, body] of [
      ['application/x-www-form-urlencoded', `a=${'x'.repeat(130 << 10)}&b=evil`],
      ['application/json', JSON.stringify({ a: 'x'.repeat(130 << 10), b: 'evil' })],
      [
        'multipart/form-data; boundary=b',
        `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x'.repeat(130 << 10)}evil\r\n--b--`,
      ],
    ] as const) {
      expect((await app.inject({ headers: { 'Content-Type': kind }, body })).status).toBe(413)
    }
  })

  test('in part: the beginning counts, a cut is no fault, the rest passes', async () => {
    const { app, states } = appOf({ maxBody: 1024, pastMaxBody: 'partial' })
    const long = (first: string) =>
      JSON.stringify([first, ...Array.from({ length: 400 }, () => 'fine'), 'evil'])
    const { status, body } = await app.inject({ headers: JSON_TYPE, body: long('good') })
    expect([status, Buffer.from(body).toString()]).toEqual([200, long('good')])
    expect(states[0]).toMatchObject({ partial: true, violation: null })
    expect((await app.inject({ headers: JSON_TYPE, body: long('evil') })).status).toBe(403)
  })

  test('a body of no bytes is looked at with its head', async () => {
    const { app } = appOf()
    expect((await app.inject({ method: 'POST', path: '/?a=evil', body: '' })).status).toBe(403)
    expect((await app.inject({ method: 'POST', path: '/?a=fine', body: '' })).status).toBe(200)
  })
})

test('excerpts of secrets are redacted', async () => {
  const { app, reports } = appOf({ mode: 'shadow', redact: ['nickname'] })
  await app.inject({
    path: '/?note=evil&password=evil1',
    headers: { ...JSON_TYPE, Cookie: 'c=evil2', 'X-Api-Key': 'evil3', Authorization: 'Bearer evil4' },
    body: '{"user":{"token":"evil5"},"NickName":"evil6","a.pwd":"evil7"}',
  })
  const told = JSON.stringify(reports[0])
  expect(told).toContain('[redacted]')
  expect(told).not.toMatch(/evil\d/)
  expect(reports[0]!.findings.map(finding => finding.excerpt).filter(text => text !== '[redacted]')).toEqual([
    'evil',
  ])
})

test('the line is bounded', async () => {
  const { app, reports } = appOf()
  await app.inject({
    path: `/?${Array.from({ length: 100 }, (_, i) => `${'n'.repeat(50)}${i}=evil`).join('&')}`,
  })
  expect(reports[0]!.line).toMatch(/ and 92 more$/)
  expect(reports[0]!.line.length).toBeLessThan(1000)
})

test('a callback that throws decides nothing', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    const { app } = appOf({
      onFindings: () => {
        throw new Error('counter')
      },
    })
    expect((await app.inject({ path: '/?a=odd' })).status).toBe(200)
    expect((await app.inject({ path: '/?a=evil' })).status).toBe(403)
    expect(warn).toHaveBeenCalledTimes(2)
  } finally {
    warn.mockRestore()
  }
})

test('an engine that fails lets nothing pass, but in shadow mode', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    const engine = {
      name: 'broken',
      inspect: () => {
        throw new Error('broken')
      },
    }
    const asked = vi.fn(() => reply(200))
    const statusOf = async (options: WafOptions): Promise<number> =>
      (await pipeline().use(waf(engine, options)).handle(asked).inject({ body: 'a' })).status
    expect(await statusOf({})).toBe(500)
    expect(asked).not.toHaveBeenCalled()
    expect(await statusOf({ mode: 'shadow' })).toBe(200)
    expect(warned).toHaveBeenCalledTimes(1)
  } finally {
    warned.mockRestore()
  }
})

test('two of them have two fields, and each holds the body', async () => {
  const seen: unknown[] = []
  const app = pipeline()
    .use(waf(words(), { mode: 'shadow', as: 'strict' }))
    .use(waf(words(), { exceptions: [{ place: 'json.a' }] }))
    .handle(async cx => {
      seen.push(cx.state.strict?.score, cx.state.waf?.score)
      return reply(200, (await readSource(cx.body!)).bytes)
    })
  expect((await app.inject({ headers: JSON_TYPE, body: '{"a":"evil"}' })).text()).toBe('{"a":"evil"}')
  expect(seen).toEqual([5, 0])
})

test('options are checked', () => {
  const bad = {
    mode: 'off',
    maxBody: 1,
    pastMaxBody: 'x',
    as: 'a b',
    redact: [1],
    onFindings: 1,
    exceptions: [{}],
    y: 1,
  }
  try {
    waf({} as never, bad as never)
    expect.unreachable()
  } catch (error) {
    expect((error as ConfigError).faults.map(fault => fault.place)).toEqual([
      ...['waf.engine', 'waf.y', 'waf.mode', 'waf.pastMaxBody', 'waf.maxBody', 'waf.as', 'waf.redact'],
      ...['waf.onFindings', 'waf.exceptions[0]'],
    ])
  }
  expect(() => waf(words(), { maxBody: 1024 })).not.toThrow()
  expect(() => waf(null as never)).toThrow(ConfigError)
})
