import { expect as jestExpect } from 'expect'
import { describe, expect, test } from 'vitest'
import { signatures } from '../engine/signatures.ts'
import {
  assertTable,
  explain,
  failures,
  formatCorpus,
  inspect,
  parseCorpus,
  request,
  runCorpus,
} from './index.ts'
import './vitest.ts'
import './jest.ts'

const engine = signatures()
const INJECTION = "1' or '1'='1"

describe('request', () => {
  test('a tag takes a line; what is put into it is encoded', () => {
    expect(request`GET /search?q=${INJECTION}`).toEqual({
      method: 'GET',
      target: "/search?q=1'%20or%20'1'%3D'1",
      headers: [],
    })
  })

  test('a tag takes a whole message, indented as it is written', () => {
    const made = request`
      POST /notes?id=${'a&b'}
      Content-Type: application/json
      X-Name: Zoë

      {
        "text": "${'<b>'}"
      }
    `
    expect(made).toMatchObject({
      method: 'POST',
      target: '/notes?id=a%26b',
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Name', 'Zo\xc3\xab'],
      ],
    })
    expect(Buffer.from(made.body!).toString()).toBe('{\n  "text": "<b>"\n}')
  })

  test('a function takes parts', () => {
    const made = request('POST /a?b=1', {
      query: { c: 'x y', d: [1, 2] },
      headers: { 'X-A': ['1', '2'] },
      cookies: { s: 'abc', t: 1 },
      form: { name: "O'Reilly" },
    })
    expect(made).toEqual({
      method: 'POST',
      target: '/a?b=1&c=x+y&d=1&d=2',
      headers: [
        ['X-A', '1'],
        ['X-A', '2'],
        ['Cookie', 's=abc; t=1'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
      ],
      body: Buffer.from('name=O%27Reilly'),
    })
  })

  test('files are multipart that the readers accept', () => {
    const made = request('POST /a', {
      multipart: {
        note: 'hi',
        file: { filename: 'a "b".png', content: Buffer.from([0x89, 0x50, 0]), type: 'image/png' },
      },
    })
    expect(inspect(engine, made)).toMatchObject({ blocked: false, violation: null })
    expect(Buffer.from(made.body!).toString('latin1')).toContain('filename="a %22b%22.png"')
  })

  test('mistakes of a test are told', () => {
    expect(() => request('/x')).toThrow(TypeError)
    expect(() => request`GET`).toThrow(TypeError)
    expect(() => request`GET /\nno field`).toThrow(TypeError)
    expect(() => request('POST /', { json: 1, form: {} })).toThrow('more than one body: form, json')
  })
})

describe('matchers', () => {
  const attack = inspect(engine, request`GET /?id=${INJECTION}`)
  const text = inspect(engine, request`GET /?name=${"O'Reilly"}`)

  test('in Vitest', () => {
    expect(attack).toBeBlocked()
    expect(attack).not.toPass()
    expect(attack).toMatchRule('sqli-*')
    expect(attack).toMatchRule(attack.findings[0]!.rule)
    expect(text).toPass()
    expect(text).not.toBeBlocked()
    expect(text).not.toMatchRule('sqli-*')
    expect(
      inspect(engine, request('POST /', { headers: { 'Content-Type': 'application/json' }, body: '{' })),
    ).toMatchRule('json-syntax')
  })

  test('in Jest', () => {
    jestExpect(attack).toBeBlocked()
    jestExpect(text).toPass()
    jestExpect(attack).toMatchRule('sqli-*')
    expect(() => jestExpect(text).toBeBlocked()).toThrow('expected the request to be blocked')
  })

  test('a failure explains itself', () => {
    expect(() => expect(text).toBeBlocked()).toThrow(/to be blocked\n\nGET .*\npassed: score 0, threshold 5/)
    expect(() => expect(attack).toPass()).toThrow(/blocked: score \d+[\s\S]*query\.id/)
    expect(() => expect(attack).not.toMatchRule('sqli-*')).toThrow('not to match rule')
    expect(() => expect(attack).toMatchRule('xss-*')).toThrow('to match rule xss-*')
    expect(() => expect({}).toBeBlocked()).toThrow('what inspect(engine, request) gives')
  })
})

test('an explanation shows raw text, normal forms, rules and scores', () => {
  const told = explain(
    engine,
    request('POST /', { form: { note: 'hello', q: '<img src=x onerror=alert(1)>' } }),
  )
  expect(told).toMatch(/^POST \/\nblocked: score \d+, threshold 5 \(signatures:balanced\)/)
  expect(told).toContain('form.q = %3Cimg+src%3Dx+onerror%3Dalert%281%29%3E')
  expect(told).toContain('  base     <img src=x onerror=alert(1)>')
  expect(told).toMatch(/ {2}\+\d xss-[\w-]+ \(\w+\): /)
  expect(told).toMatch(/ {5}looks for /)
  expect(told).not.toContain('form.note')
  expect(told).toMatch(/[\x20-\x7e\n]+/)
  const bad = explain(
    engine,
    request('POST /', { headers: { 'Content-Type': 'application/json' }, body: '{"a":1,"a":2}' }),
  )
  expect(bad).toContain('bad form: json-duplicate-key in json.a')
})

describe('tables', () => {
  const rows = [
    ['injection', request`GET /?id=${INJECTION}`, 'blocked'],
    ['its rule', request`GET /?id=${INJECTION}`, 'sqli-*'],
    ['a name', request`GET /?name=${"O'Reilly"}`, 'passes'],
  ] as const

  test('a table that holds says nothing', () => {
    assertTable(engine, rows)
    expect(failures(engine, rows)).toEqual([])
  })

  test('one that does not tells each row', () => {
    const wrong = [
      ...rows,
      ['wrong', request`GET /`, 'blocked'],
      ['wrong too', request`GET /`, 'xss-a'],
    ] as const
    expect(failures(engine, wrong).map(({ name, expected }) => [name, expected])).toEqual([
      ['wrong', 'blocked'],
      ['wrong too', 'xss-a'],
    ])
    expect(() => assertTable(engine, wrong)).toThrow(/2 of 5 rows failed[\s\S]*wrong: expected blocked/)
    expect(() => assertTable(engine, [])).toThrow('empty')
  })
})

describe('corpus', () => {
  const lines = [
    {
      id: 'a/1',
      kind: 'attack',
      type: 'SQL',
      method: 'GET',
      target: `/?id=${encodeURIComponent(INJECTION)}`,
      headers: [],
    },
    { id: 'a/2', kind: 'attack', type: 'SQL', method: 'GET', target: '/?id=1', headers: [] },
    {
      id: 'b/1',
      kind: 'benign',
      method: 'POST',
      target: '/',
      headers: [['Content-Type', 'text/plain']],
      body: 'Zoë',
    },
  ]

  test('is counted, and what came out wrong is named', () => {
    const result = runCorpus(engine, parseCorpus(lines.map(line => JSON.stringify(line)).join('\n')))
    expect(result.attacks).toEqual({ total: 2, blocked: 1 })
    expect(result.texts).toEqual({ total: 1, blocked: 0 })
    expect(result.types.get('SQL')).toEqual({ total: 2, blocked: 1 })
    expect(formatCorpus(result).split('\n')).toEqual([
      'signatures:balanced',
      '  attacks  1 of 2 blocked (50.0 %)',
      '    SQL: 1 of 2 blocked (50.0 %)',
      '  texts    0 of 1 blocked (0.0 %)',
      '  missed   a/2',
    ])
  })

  test('lines that are none are named', () => {
    expect(() => parseCorpus('\n{')).toThrow('line 2 is no JSON')
    expect(() => parseCorpus('{"kind":"attack"}')).toThrow('line 1 needs')
    expect(() => parseCorpus('{"kind":"x","method":"GET","target":"/","headers":[]}')).toThrow('line 1 needs')
  })
})
