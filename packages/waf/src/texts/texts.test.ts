import { expect, test } from 'vitest'
import { signatures } from '../engine/signatures.ts'
import type { InspectRequest } from '../engine/types.ts'
import { request } from '../testing/request.ts'
import { assertTable, type Row } from '../testing/table.ts'
import { kinds, type Place } from './support/load.ts'

const balanced = signatures()
const all = kinds()

/** Where a text of its kind comes from. */
const carriers: Readonly<Record<Place, Readonly<Record<string, (text: string) => InspectRequest>>>> = {
  value: {
    query: text => request('GET /search?page=2', { query: { q: text } }),
    form: text => request('POST /notes', { form: { id: 7, text } }),
    json: text => request('POST /notes', { json: { items: [{ id: 7, note: text }] } }),
    multipart: text => request('POST /notes', { multipart: { text, id: 7 } }),
  },
  cookie: { cookie: text => request('GET /', { headers: { Cookie: text } }) },
  'user-agent': { header: text => request('GET /', { headers: { 'User-Agent': text } }) },
  referer: { header: text => request('GET /', { headers: { Referer: text } }) },
  'field-name': {
    query: name => request('GET /', { query: { [name]: 'on' } }),
    form: name => request('POST /', { form: { [name]: '1' } }),
    json: name => request('POST /', { json: { [name]: { value: 1 } } }),
    multipart: name => request('POST /', { multipart: { [name]: 'x' } }),
  },
  filename: {
    multipart: filename =>
      request('POST /', { multipart: { file: { filename, content: 'some text', type: 'text/plain' } } }),
    path: name => request(`GET /files/${encodeURIComponent(name)}`),
  },
}

test('there are at least 300 ordinary texts, and 60 of a form that is often misjudged', () => {
  const counts = new Map(all.map(kind => [kind.name, kind.texts.length]))
  const tricky = counts.get('tricky') ?? 0
  expect(tricky).toBeGreaterThanOrEqual(60)
  expect([...counts.values()].reduce((sum, count) => sum + count, 0) - tricky).toBeGreaterThanOrEqual(300)
  expect(new Set(all.flatMap(kind => kind.texts)).size).toBe(all.flatMap(kind => kind.texts).length)
})

test.each(
  all.flatMap(kind => Object.keys(carriers[kind.place]).map(carrier => [kind.name, carrier, kind] as const)),
)('%s pass in balanced, as %s', (_, carrier, kind) => {
  const build = carriers[kind.place][carrier]!
  assertTable(
    balanced,
    kind.texts.map((text): Row => [text.slice(0, 60), build(text), 'passes']),
  )
})

test('the few texts that read like attacks pass with an exception for their field', () => {
  const texts = kinds('known').flatMap(kind => kind.texts)
  expect(texts.length).toBeLessThanOrEqual(20)
  for (const text of texts) {
    const { blocked } = balanced.inspect(
      request('POST /posts', { json: { posts: [{ body: text }] } }),
      (_rule, _category, place) => place === 'json.posts[0].body',
    )
    expect([text, blocked]).toEqual([text, false])
  }
})
