/** A notes app that tests its firewall in its own suite: rules, exceptions, schema. No server, no socket, no port. */
import { type Handler, pipeline, reply } from '@postern/core'
import { jsonSchema, type Pattern, signatures, type WafException, waf } from '@postern/waf'
import { assertTable, explain, inspect, request } from '@postern/waf/testing'
import { describe, expect, test } from 'vitest'
import '@postern/waf/testing/vitest'

// What the app has: a pattern of its own, one exception, and a function that builds the edge around any handler.

/** Nobody outside may ask for the paths of our old admin tool. */
const oldAdmin: Pattern = {
  id: 'scanner-old-admin',
  category: 'scanner',
  severity: 'medium',
  message: 'A path of the admin tool that we had until 2024',
  score: 5,
  literals: ['/tools/admin.cgi'],
  places: ['path'],
  match: ['/tools/admin.cgi', '/x/tools/admin.cgi'],
  pass: ['/tools/admin'],
}

const engine = signatures({ patterns: [oldAdmin] })

/** Notes are Markdown, and people write code in them. */
const exceptions: WafException[] = [{ route: '/notes', place: 'json.text' }]

const note = {
  type: 'object',
  required: ['title', 'text'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 80 },
    text: { type: 'string', maxLength: 20_000 },
  },
}

function edge(handler: Handler) {
  return pipeline()
    .use(waf(engine, { exceptions }))
    .route('POST /notes', r => r.use(jsonSchema(note)).handle(handler))
    .handle(handler)
}

// The engine is a function of a request.

test('one request', () => {
  expect(inspect(engine, request`GET /search?q=${"1' or '1'='1"}`)).toBeBlocked()
  expect(inspect(engine, request`GET /search?q=${"1' or '1'='1"}`)).toMatchRule('sqli-*')
  expect(inspect(engine, request`GET /search?q=${"O'Reilly"}`)).toPass()
})

test('a table', () => {
  assertTable(engine, [
    ['our own pattern', request('GET /tools/admin.cgi'), 'scanner-old-admin'],
    ['its name in a text', request('GET /search', { query: { q: 'where is /tools/admin.cgi?' } }), 'passes'],
    ['a script', request('POST /comments', { form: { text: '<script>alert(1)</script>' } }), 'blocked'],
    ['a name', request('POST /people', { form: { name: "Conan O'Brien" } }), 'passes'],
    [
      'a member twice',
      request('POST /x', { headers: { 'Content-Type': 'application/json' }, body: '{"a":1,"a":2}' }),
      'json-duplicate-key',
    ],
  ])
})

test('why', () => {
  const told = explain(engine, request('GET /tools/admin.cgi'))
  expect(told).toContain('+5 scanner-old-admin (medium): A path of the admin tool that we had until 2024')
})

// The edge takes requests in memory; a handler stands in for the upstream.

describe('the edge', () => {
  const app = edge(() => reply(201))
  const post = async (path: string, body: unknown) => {
    const headers = { 'Content-Type': 'application/json' }
    const { status, outcome } = await app.inject({ path, headers, body: JSON.stringify(body) })
    return [status, outcome.filter, outcome.reason]
  }
  const code = 'The classic: `<script>alert(1)</script>` in a comment'

  test('code in the text of a note is fine, elsewhere it is not', async () => {
    expect(await post('/notes', { title: 'Cleaning', text: code })).toEqual([201, null, null])
    expect(await post('/notes', { title: code, text: 'x' })).toEqual([403, 'waf', 'waf-xss'])
    expect(await post('/other', { text: code })).toEqual([403, 'waf', 'waf-xss'])
  })

  test('a note has to look like one', async () => {
    expect(await post('/notes', { title: '' })).toEqual([400, 'json-schema', 'json-schema'])
  })
})

// npx vitest run examples/waf-rules.test.ts
