import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { ConfigError } from '@postern/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reader } from './read.ts'
import { collect, collectBody, ruleOf } from './support/collect.ts'

describe('head', () => {
  test('path, query, cookies and headers have places', () => {
    const { values, sections, violation } = collect({
      method: 'GET',
      target: '/a%20b?id=1&user%5Bname%5D=x+y&flag&=z&q=a=b;c=d',
      headers: [
        ['Host', 'example.com:8080'],
        ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
        ['Accept', 'text/html,*/*;q=0.8'],
        ['Cookie', 'a=1; b="2"; c'],
        ['cookie', 'd=4=5'],
        ['Authorization', 'Basic dTpw'],
        ['X-Custom', 'y'],
      ],
    })
    expect(values).toEqual([
      'path=/a%20b',
      'query.id=id',
      'query.id=1',
      'query.user[name]=user%5Bname%5D',
      'query.user[name]=x+y',
      'query.=flag',
      'query.=z',
      'query.q=q',
      'query.q=a=b;c=d',
      'cookie.a=a',
      'cookie.a=1',
      'cookie.b=b',
      'cookie.b="2"',
      'cookie.=c',
      'cookie.d=d',
      'cookie.d=4=5',
      'header:user-agent=Mozilla/5.0 (X11; Linux x86_64)',
      'header:authorization=dTpw',
      'header:x-custom=y',
    ])
    expect(new Set(sections)).toEqual(new Set(['path', 'query', 'cookie', 'header']))
    expect(violation).toBeNull()
  })

  test.each([
    ['Accept-Language', 'en-US;q=0.8,en;q=0.7, de', false],
    ['accept-language', "en' or '1'='1", true],
    ['Accept', '<script>', true],
    ['Accept', 'a; wget http://x', true],
    ['Accept-Encoding', '../../etc/passwd', true],
    ['HOST', '$'.concat('{jndi:ldap://x}'), true],
    ['Host', 'example.com:443', false],
    ['Sec-CH-UA', '"Not(A:Brand";v="24", "Chromium";v="122"', false],
    ['If-None-Match', 'W/"abc-123", "d"', false],
    ['If-Modified-Since', 'Tue, 01 Dec 2026 11:00:00 GMT', false],
    ['If-Modified-Since', "Tue' -- x", true],
    ['Connection', 'x'.repeat(300), true],
  ])('%s: %s', (name, value, told) => {
    expect(collect({ method: 'GET', headers: [[name, value]] }).values.length > 0).toBe(told)
  })

  test('values of one name go out joined, too', () => {
    const many = Array.from({ length: 20 }, (_, i) => `p${i}=v`).join('&')
    const { values } = collect({ method: 'GET', target: `/?a=un/*&b=1&a=*/ion&${many}&p19=w&a=x` })
    expect(values.slice(-2)).toEqual(['query.a=un/*,*/ion,x', 'query.p19=v,w'])
  })

  test('headers can be left out', () => {
    expect(
      collect({ method: 'GET', headers: [['X-Raw', '<b>']] }, { skipHeaders: ['X-Raw'] }).values,
    ).toEqual([])
  })

  test('too many parameters are refused, and still looked at', () => {
    const { values, violation } = collect({ method: 'GET', target: '/?a&a&evil' }, { maxParameters: 2 })
    expect(violation).toMatchObject({ rule: 'parameters', place: 'query' })
    expect(values.at(-1)).toBe('query=a&a&evil')
    const cookies = collect({ method: 'GET', headers: [['Cookie', 'a; b; c=evil']] }, { maxParameters: 2 })
    expect(cookies.violation).toMatchObject({ rule: 'parameters', place: 'cookie' })
  })

  test('a place is bounded, printable, and quotes nothing raw', () => {
    const { values } = collect({ method: 'GET', target: `/?${'%22%0a\xff'.repeat(100)}=v` })
    const place = values.at(-1)!.slice(0, -2)
    expect(place).toMatch(/^query\.[\x20-\x7e]{1,256}$/)
    expect(place).not.toContain('"')
  })
})

describe('type', () => {
  test.each([
    ['application/json', '{"a":1}', null],
    ['application/json;  charset=utf-8', '{"a":1}', null],
    ['application/json; charset="UTF-8"', '{"a":1}', null],
    ['application/json;', '{"a":1}', null],
    ['application/json; charset=utf-16', '{"a":1}', 'charset'],
    ['text/plain; charset=utf-7', 'a', 'charset'],
    ['application/json, text/plain', '{}', 'content-type'],
    ['application/json; charset=utf-8; charset=utf-7', '{}', 'content-type'],
    ['application/json; charset = utf-8', '{}', 'content-type'],
    ['application/json charset=utf-8', '{}', 'content-type'],
    ['json', '{}', 'content-type'],
    ['', '{}', 'content-type'],
    ['application/json; a="b', '{}', 'content-type'],
    ['image/png', 'id=1 or 1=1', 'type-mismatch'],
    ['application/pdf', '%PDF-1.7\n', null],
    ['text/plain', 'a\0b', 'type-mismatch'],
    ['application/x-www-form-urlencoded', 'a=\0', 'type-mismatch'],
  ])('%s with %j', (type, body, rule) => {
    expect(ruleOf(type, body)).toBe(rule)
  })

  test('two lines are one too many, and the body is told as text', () => {
    const { values, violation } = collect({
      headers: [
        ['Content-Type', 'application/json'],
        ['content-type', 'text/plain'],
      ],
      body: '{"a":1}',
    })
    expect(violation).toMatchObject({ rule: 'content-type-twice' })
    expect(values).toEqual(['body={"a":1}'])
  })

  test('an empty type without a body is none', () => {
    expect(collect({ method: 'GET', headers: [['Content-Type', '']] }).violation).toBeNull()
  })

  test.each([
    'application/json; odata.metadata=minimal;odata.streaming=true',
    'application/vnd.api+json;ext="https://jsonapi.org/ext/atomic"',
    'application/json;charset=UTF-8;',
    'APPLICATION/JSON ; charset=utf8',
  ])('%s is JSON', type => {
    expect(collectBody(type, '{"a":1}')).toMatchObject({ values: ['json.a=a', 'json.a=1'], violation: null })
  })

  test('a bad type without a body is refused too', () => {
    expect(
      collect({ method: 'GET', headers: [['Content-Type', 'a/b; charset=utf-7']] }).violation?.rule,
    ).toBe('charset')
  })
})

describe('bodies', () => {
  test('forms are split, and stay encoded', () => {
    expect(collectBody('application/x-www-form-urlencoded', 'a=1+2&b=%27').values).toEqual([
      'form.a=a',
      'form.a=1+2',
      'form.b=b',
      'form.b=%27',
    ])
  })

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'x/unknown', 'application/octet-stream'])(
    'JSON under the name of %s is read as JSON',
    type => {
      expect(collectBody(type, ' {"a":["\\u0027"]}').values).toEqual(['json.a=a', "json.a[0]='"])
    },
  )

  test('without a type a body is read as what it is', () => {
    expect(collect({ body: '[1]' }).values).toEqual(['json[0]=1'])
    expect(collect({ body: '<a b="c"/>' }).values).toEqual(['xml.a=a', 'xml.a@b=b', 'xml.a@b=c'])
    expect(collect({ body: 'a=%31&b=2' }).values).toEqual(['form.a=a', 'form.a=%31', 'form.b=b', 'form.b=2'])
    expect(collect({ body: 'just words' }).values).toEqual(['text=just words'])
    expect(collect({ body: '[not json' }).values).toEqual(['text=[not json'])
    expect(collect({ body: '<p>not xml' }).values).toEqual(['text=<p>not xml'])
  })

  test.each(['GET', 'DELETE', 'OPTIONS', 'REPORT'])('a body of %s is read', method => {
    expect(
      collect({ method, headers: [['Content-Type', 'application/json']], body: '["x"]' }).values,
    ).toEqual(['json[0]=x'])
  })

  test('UTF-16 without a type is told as text', () => {
    const text = '<script>alert(1)</script>'
    expect(collect({ body: Buffer.from(`\ufeff${text}`, 'utf16le') }).values).toEqual([
      `text=\xff\xfe${text}`,
    ])
    expect(collect({ body: Buffer.from(text, 'utf16le').swap16() }).values).toEqual([`text=${text}`])
  })

  test('of bytes that are no text, the text in them is told', () => {
    const body = Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'),
      Buffer.from('<script>alert(1)</script>'),
      Buffer.alloc(3),
    ])
    expect(collectBody('image/png', body).values).toEqual(['text=<script>alert(1)</script>'])
  })
})

describe('GraphQL', () => {
  const query = 'query Q($a: Int = -1.5) { user(id: "x\\u0027", note: """b"c""") { ...F } } # done'

  test('strings and the rest are told apart', () => {
    const { values, sections, violation } = collectBody('application/graphql', query)
    expect(violation).toBeNull()
    expect(values).toEqual([
      'graphql=query Q($a: Int = -1.5) { user(id: "", note: "") { ...F } } ',
      "graphql=x'",
      'graphql=b"c',
      'graphql= done',
    ])
    expect(new Set(sections)).toEqual(new Set(['graphql']))
  })

  test('the member query of JSON is a document, in batches too; its variables are JSON', () => {
    const one = { query: '{ a(b: "c") }', variables: { v: "'" } }
    expect(collectBody('application/json', JSON.stringify([one])).values).toEqual([
      'json[0].query=query',
      'json[0].query={ a(b: "") }',
      'json[0].query=c',
      'json[0].variables=variables',
      'json[0].variables.v=v',
      "json[0].variables.v='",
    ])
  })

  test('what only begins like one is a plain value', () => {
    const { values, sections } = collectBody('application/json', JSON.stringify({ query: "{ ' or 1=1 --" }))
    expect(values).toContain("json.query={ ' or 1=1 --")
    expect(sections.at(-1)).toBe('json')
  })

  test.each([
    ['graphql-syntax', "{ ' or 1=1"],
    ['graphql-syntax', '{ a '],
    ['graphql-syntax', '{ a ) }'],
    ['graphql-syntax', '{ a(b: "c) }'],
    ['graphql-depth', '{a'.repeat(33)],
    ['graphql-tokens', `{${'a '.repeat(5000)}}`],
  ])('%s: %j', (rule, body) => {
    expect(ruleOf('application/graphql', body)).toBe(rule)
  })

  test('a batch has one limit', () => {
    const batch = Array.from({ length: 60 }, () => ({ query: `{${'a '.repeat(100)}}` }))
    expect(ruleOf('application/json', JSON.stringify(batch))).toBe('graphql-tokens')
  })
})

describe('codings', () => {
  const json = '{"a":"<script>"}'
  const coded = (coding: string, body: Uint8Array) =>
    collect({
      headers: [
        ['Content-Type', 'application/json'],
        ['Content-Encoding', coding],
      ],
      body,
    })

  test.each([
    ['gzip', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['GZIP', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['br', brotliCompressSync(json)],
    ['gzip, br', brotliCompressSync(gzipSync(json))],
    ['identity', Buffer.from(json)],
  ])('%s', (coding, body) => {
    expect(coded(coding, body)).toMatchObject({ values: ['json.a=a', 'json.a=<script>'], violation: null })
  })

  test.each([
    ['coding-unknown', 'compress', Buffer.from(json)],
    ['coding-unknown', 'gzip;q=1', gzipSync(json)],
    ['coding-stack', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(json)))],
    ['coding-broken', 'gzip', Buffer.from(json)],
    ['coding-broken', 'gzip', gzipSync(json).subarray(0, -3)],
    ['coding-broken', 'gzip', Buffer.concat([gzipSync('{}'), Buffer.from(json)])],
    ['coding-trailing', 'deflate', Buffer.concat([deflateSync('{}'), Buffer.from(json)])],
    ['coding-trailing', 'br', Buffer.concat([brotliCompressSync('{}'), Buffer.from(json)])],
    ['coding-bomb', 'gzip', gzipSync(Buffer.alloc(20 << 20))],
    ['coding-bomb', 'gzip, gzip', gzipSync(gzipSync(Buffer.alloc(50 << 20)))],
  ])('%s: %s', (rule, coding, body) => {
    expect(coded(coding, body).violation?.rule).toBe(rule)
  })

  test('a cut stream is read as far as it goes', () => {
    const long = `[${Array.from({ length: 500 }, (_, i) => `"value ${i * 7919}"`).join()}]`
    for (const [coding, bytes] of [
      ['gzip', gzipSync(long)],
      ['deflate', deflateSync(long)],
      ['br', brotliCompressSync(long)],
    ] as const) {
      const { values, violation } = collect({
        headers: [
          ['Content-Type', 'application/json'],
          ['Content-Encoding', coding],
        ],
        body: bytes.subarray(0, bytes.length - 100),
        bodyTruncated: true,
      })
      expect(violation).toBeNull()
      expect(values.length).toBeGreaterThan(50)
    }
  })
})

describe('entropy', () => {
  const form = (value: string) => ruleOf('application/x-www-form-urlencoded', `a=${value}`)
  const percent = (bytes: Uint8Array) =>
    [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

  test('chance is refused, in values and bodies', () => {
    expect(form(percent(randomBytes(600)))).toMatch(/^entropy-/)
    expect(form(percent(deflateRawSync(randomBytes(5000))))).toMatch(/^entropy-/)
    expect(
      ruleOf(
        'text/plain',
        randomBytes(3000).map(byte => byte || 1),
      ),
    ).toMatch(/^entropy-body$/)
    expect(
      ruleOf(
        'text/plain',
        randomBytes(3000).map(byte => byte || 1),
        { maxEntropy: false },
      ),
    ).toBeNull()
  })

  test('files, images and archives are not asked', () => {
    expect(ruleOf('application/octet-stream', randomBytes(5000))).toBeNull()
    expect(ruleOf('application/gzip', gzipSync(randomBytes(5000)))).toBeNull()
  })

  test('base64 and text of many scripts pass, short and long', () => {
    const scripts =
      '人人生而自由，在尊严和权利上一律平等。すべての人間は、生まれながらにして自由である。모든 인간은 태어날 때부터 자유로우며 Все люди рождаются свободными и равными يولد جميع الناس أحرارًا सभी मनुष्यों को गौरव 😀🎉 όλοι οι άνθρωποι כל בני האדם'
    for (const times of [1, 3, 20]) {
      const text = [...scripts.repeat(times)]
        .map((c, i) => String.fromCodePoint(c.codePointAt(0)! + (i % 5 === 0 ? 1 : 0)))
        .join('')
      expect(form(encodeURIComponent(text))).toBeNull()
      expect(ruleOf('text/plain', text)).toBeNull()
      expect(ruleOf('application/json', JSON.stringify(text))).toBeNull()
    }
    expect(form(encodeURIComponent(randomBytes(6000).toString('base64')))).toBeNull()
    expect(
      ruleOf('application/x-www-form-urlencoded', `a=${randomBytes(6000).toString('base64url')}`, {
        maxEntropy: 5.5,
      }),
    ).toBeNull()
  })
})

test('every option is checked, and unknown ones are refused', () => {
  const faults = (options: object): string[] => {
    try {
      reader(options, 'signatures.read')
      return []
    } catch (error) {
      return (error as ConfigError).faults.map(fault => fault.place)
    }
  }
  expect(
    faults({ maxDepth: 0, maxRatio: 1.5, maxEntropy: 9, charsets: ['a b'], nope: 1, skipHeaders: 'x' }),
  ).toEqual([
    'signatures.read.nope',
    'signatures.read.maxDepth',
    'signatures.read.maxRatio',
    'signatures.read.charsets',
    'signatures.read.maxEntropy',
    'signatures.read.skipHeaders',
  ])
  expect(() => reader({ maxDepth: -1 })).toThrow(ConfigError)
})

test('no bytes make a reader throw, and places are printable', () => {
  const types = fc.constantFrom(
    ...[
      'application/json',
      'text/xml',
      'application/graphql',
      'text/plain',
      'application/x-www-form-urlencoded',
    ],
    ...[
      'multipart/form-data; boundary=b',
      'image/png',
      'application/x-ndjson',
      'multipart/mixed; boundary=b',
    ],
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.constantFrom(...'{}[]":,<>/=&%\\\r\n-b!?#ax01'), { maxLength: 80 })
      .map(pieces => Buffer.from(pieces.join(''))),
    fc
      .array(fc.constantFrom('--b', '\r\n', 'Content-Disposition: form-data; name="a"', '--', 'x', '\n'), {
        maxLength: 12,
      })
      .map(pieces => Buffer.from(`--b\r\n${pieces.join('')}`)),
  )
  const codings = fc.constantFrom(null, 'gzip', 'deflate', 'br')
  fc.assert(
    fc.property(types, bytes, codings, fc.boolean(), (type, body, coding, bodyTruncated) => {
      const headers: [string, string][] = [['Content-Type', type]]
      if (coding !== null) headers.push(['Content-Encoding', coding])
      const { values } = collect({ headers, body, bodyTruncated })
      for (const value of values) expect(value.split('=', 1)[0]).toMatch(/^[\x20-\x7e]{1,256}$/)
    }),
    { numRuns: 3000 },
  )
})

test('docs/waf.md has every structure gate, and no other', () => {
  const sources = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const rules = new Set<string>()
  for (const name of sources) {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8')
    for (const [, rule] of text.matchAll(/(?:Refusal|refusal)\(\s*'([a-z0-9-]+)'|'(entropy-[a-z]+)'/g))
      if (rule) rules.add(rule)
    for (const [rule] of text.matchAll(/entropy-(?:body|value)/g)) rules.add(rule)
  }
  const page = readFileSync(new URL('../../../../docs/waf.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## Structure gates'), page.indexOf('## The filter'))
  const told = section
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(match => match[1]!))
  expect(told.sort()).toEqual([...rules].sort())
})
