import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limitsOf } from '../options.ts'
import { Trail } from '../place.ts'
import { Refusal } from '../refusal.ts'
import { collectBody, ruleOf } from '../support/collect.ts'
import { readJson } from './read.ts'

const json = (body: string | Uint8Array) => collectBody('application/json', body)

test('every key, string and scalar has a place', () => {
  expect(json('{"items":[{"note":"a","n":-1.5e3},true,null,[]],"s":{}}')).toMatchObject({
    values: [
      'json.items=items',
      'json.items[0].note=note',
      'json.items[0].note=a',
      'json.items[0].n=n',
      'json.items[0].n=-1.5e3',
      'json.items[1]=true',
      'json.items[2]=null',
      'json.s=s',
    ],
    violation: null,
  })
})

test('B086: top-level scalars are values', () => {
  expect(json(`"' OR '1'='1"`).values).toEqual([`json=' OR '1'='1`])
  expect(json('["teacher"]').values).toEqual(['json[0]=teacher'])
  expect(json(' 17 ').values).toEqual(['json=17'])
})

test('escapes are undone into UTF-8 bytes', () => {
  const utf8 = (text: string) => Buffer.from(text).toString('latin1')
  expect(json('"\\u0027 or\\t\\"1\\" \\u00e9\\u20ac\\ud83d\\ude00 \\/"').values).toEqual([
    `json=${utf8('\' or\t"1" é€😀 /')}`,
  ])
  expect(json('"\\ud83d!"').values).toEqual(['json=\xed\xa0\xbd!'])
})

test('B087: paths of different members never look alike', () => {
  expect(json('{"a.b":"evil","a":{"b":"ok"},"c[0]":1,"":2}').values).toEqual([
    'json["a.b"]=a.b',
    'json["a.b"]=evil',
    'json.a=a',
    'json.a.b=b',
    'json.a.b=ok',
    'json["c[0]"]=c[0]',
    'json["c[0]"]=1',
    'json[""]=',
    'json[""]=2',
  ])
})

test.each([
  ['json-duplicate-key', '{"q":"evil","q":"ok"}'],
  ['json-duplicate-key', '{"q":1,"\\u0071":2}'],
  ['json-duplicate-key', `{${Array.from({ length: 40 }, (_, i) => `"k${i}":0`).join()},"k3":1}`],
  ['json-bom', '\ufeff{}'],
  ['json-bom', '\ufeff\ufeff{}'],
  ['json-trailing', '{} {}'],
  ['json-trailing', '1,2'],
  ['json-syntax', '{a:"<script>"}'],
  ['json-syntax', '{"a":"x",}'],
  ['json-syntax', '[1,]'],
  ['json-syntax', '[1 2]'],
  ['json-syntax', '{"a" 1}'],
  ['json-syntax', '[NaN]'],
  ['json-syntax', '[01]'],
  ['json-syntax', '[1.]'],
  ['json-syntax', '[+1]'],
  ['json-syntax', '[.5]'],
  ['json-syntax', '[1e]'],
  ['json-syntax', "['a']"],
  ['json-syntax', '// no\n{}'],
  ['json-syntax', '{}/**/'.slice(0, 1)],
  ['json-syntax', '"\\x41"'],
  ['json-syntax', '"\\u12"'],
  ['json-syntax', '"a\nb"'],
  ['json-syntax', '"a'],
  ['json-syntax', '[tru]'],
  ['json-syntax', '[Infinity]'],
  ['json-syntax', ' '],
  ['json-depth', '['.repeat(10_000)],
])('%s: %j', (rule, body) => {
  expect(ruleOf('application/json', body)).toBe(rule)
})

test('what is no UTF-8 is refused', () => {
  expect(ruleOf('application/json', Buffer.from('"\xe9"', 'latin1'))).toBe('json-utf8')
})

test('limits are exact', () => {
  const deep = (n: number) => '['.repeat(n) + ']'.repeat(n)
  expect(ruleOf('application/json', deep(3), { maxDepth: 3 })).toBeNull()
  expect(ruleOf('application/json', deep(4), { maxDepth: 3 })).toBe('json-depth')
  expect(ruleOf('application/json', '{"a":{"b":1}}', { maxKeys: 2 })).toBeNull()
  expect(ruleOf('application/json', '{"a":{"b":1},"c":1}', { maxKeys: 2 })).toBe('json-keys')
  expect(ruleOf('application/json', '"abc"', { maxString: 3 })).toBeNull()
  expect(ruleOf('application/json', '"abcd"', { maxString: 3 })).toBe('json-string')
})

test('what was refused is told as text too', () => {
  const { values, violation } = json(`{"a":1,"b":<script>`)
  expect(violation).toMatchObject({ rule: 'json-syntax', place: 'json.b' })
  expect(values.at(-1)).toBe('body={"a":1,"b":<script>')
})

test('a refusal repeats nothing that the client wrote', () => {
  expect(JSON.stringify(json('{"a":evil}').violation)).not.toContain('evil')
})

test('lines of JSON are documents, each with its number', () => {
  expect(collectBody('application/x-ndjson', '{"a":1}\r\n\n["b"]\n').values).toEqual([
    'json[0].a=a',
    'json[0].a=1',
    'json[2][0]=b',
  ])
  expect(ruleOf('application/x-ndjson', '{"a":1}\n{"a"')).toBe('json-syntax')
})

describe('against JSON.parse', () => {
  const limits = limitsOf({ maxDepth: 512 })
  /** `null` when two members of one name ended the reading: what `JSON.parse` makes of the rest is another question. */
  const accepts = (text: string): boolean | null => {
    const trail = new Trail()
    trail.at('json')
    try {
      readJson(text, limits, trail, () => {})
      return true
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      return thrown.violation.rule === 'json-duplicate-key' ? null : false
    }
  }
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }

  test('accepts what it accepts', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), text => {
        expect(accepts(Buffer.from(text).toString('latin1'))).not.toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('refuses what it refuses, with single bytes changed', () => {
    const marks = fc.constantFrom(...'{}[]",:\\u0123eE+-.tfn /*\t\n\x00\x1f\x7f')
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), marks, fc.nat(1), (text, at, mark, cut) => {
        const latin = Buffer.from(text).toString('latin1')
        const where = at % (latin.length + 1)
        const changed = latin.slice(0, where) + mark + latin.slice(where + cut)
        const accepted = accepts(changed)
        if (accepted !== null) expect([changed, accepted]).toEqual([changed, parses(changed)])
      }),
      { numRuns: 3000 },
    )
  })

  test('tells the strings that it finds', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), strings => {
        const clean = strings.map(one => Buffer.from(one, 'utf8').toString('utf8'))
        const told: string[] = []
        const trail = new Trail()
        trail.at('json')
        readJson(
          Buffer.from(JSON.stringify(clean)).toString('latin1'),
          limits,
          trail,
          (_, value) => void told.push(value),
        )
        expect(told).toEqual(clean.map(one => Buffer.from(one).toString('latin1')))
      }),
      { numRuns: 500 },
    )
  })
})

test('B085: a body that was cut off is read up to the cut, wherever it is', () => {
  const body = Buffer.from('{"a":[1.5e3,"x\\u20acé",true],"b":{"c":null}}')
  for (let length = 1; length <= body.length; length++) {
    const trail = new Trail()
    trail.at('json')
    const told: string[] = []
    const text = body.subarray(0, length).toString('latin1')
    readJson(text, limitsOf(), trail, (place, value) => void told.push(`${place}=${value}`), true)
    if (length > 18) expect(told).toContain('json.a[0]=1.5e3')
  }
})
