import { gzipSync } from 'node:zlib'
import { ConfigError, pipeline, reply } from '@postern/core'
import { readSource } from '@postern/core/testing'
import { expect, test } from 'vitest'
import type { JsonSchema } from './compile.ts'
import { type JsonSchemaOptions, jsonSchema } from './json-schema.ts'

const NOTE: JsonSchema = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  properties: {
    text: { type: 'string', maxLength: 20 },
    email: { type: 'string', format: 'email' },
    tags: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
  },
}

function appOf(schema: JsonSchema, options?: JsonSchemaOptions) {
  return pipeline()
    .use(jsonSchema(schema, options))
    .handle(async cx => reply(200, cx.body && (await readSource(cx.body)).bytes))
}

async function send(body: unknown, options?: JsonSchemaOptions, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return appOf(NOTE, options).inject({
    body: text,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

test('a body that fits goes on, byte for byte', async () => {
  const text = ' {"text": "hi", "tags": ["red"], "email": "a@b.example"}\n'
  const answer = await send(text)
  expect([answer.status, answer.text()]).toEqual([200, text])
  expect((await send(gzipSync(text), {}, { 'Content-Encoding': 'gzip' })).status).toBe(200)
  expect(
    (await send(text, {}, { 'Content-Type': 'application/merge-patch+json; charset=utf-8' })).status,
  ).toBe(200)
})

test.each([
  ['a missing member', {}, '', 'required', "must have required property 'text'"],
  ['a wrong type', { text: 7 }, '/text', 'type', 'must be string'],
  [
    'an item',
    { text: 'a', tags: ['red', 'evil'] },
    '/tags/1',
    'enum',
    'must be equal to one of the allowed values',
  ],
  ['a format', { text: 'a', email: 'evil' }, '/email', 'format', 'must match format "email"'],
  [
    'another member',
    { text: 'a', evil: 1 },
    '',
    'additionalProperties',
    'must NOT have additional properties',
  ],
  ['a name of the client', { text: 'a', counts: { evil: 'x' } }, '/counts/*', 'type', 'must be integer'],
])('%s', async (_, body, pointer, keyword, detail) => {
  const { status, headers, outcome, text } = await send(body)
  expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  expect(JSON.parse(text())).toEqual({
    type: 'about:blank',
    title: 'The body does not fit its schema',
    status: 400,
    errors: [{ pointer, keyword, detail }],
  })
  expect(outcome).toMatchObject({ filter: 'json-schema', reason: 'json-schema' })
  expect(text()).not.toContain('evil')
})

test('all faults are told when asked for, up to a number', async () => {
  const body = { text: 'a', tags: Array.from({ length: 50 }, () => 'evil') }
  expect(JSON.parse((await send(body)).text()).errors).toHaveLength(1)
  expect(JSON.parse((await send(body, { allErrors: true })).text()).errors).toHaveLength(20)
  expect(JSON.parse((await send(body, { allErrors: true, maxErrors: 3 })).text()).errors).toHaveLength(3)
})

test.each([
  ['no JSON', '{"text":evil}'],
  ['a member twice', '{"text":"a","text":"b"}'],
  ['a trailing comma', '{"text":"a",}'],
  ['something behind', '{"text":"a"} evil'],
  ['bytes that are no UTF-8', Buffer.from('{"text":"\xff"}', 'latin1')],
])('%s is 400 too', async (_, body) => {
  const { status, text } = await send(body)
  expect([status, JSON.parse(text()).errors[0].keyword]).toEqual([400, 'syntax'])
  expect(text()).not.toContain('evil')
})

test.each([
  ['another type', { 'Content-Type': 'text/plain' }],
  ['no type that can be read', { 'Content-Type': 'json' }],
  ['another charset', { 'Content-Type': 'application/json; charset=utf-16' }],
  ['a coding that is none', { 'Content-Encoding': 'gzip' }],
  ['an unknown coding', { 'Content-Encoding': 'rot13' }],
])('%s is 415', async (_, headers) => {
  expect((await send({ text: 'a' }, {}, headers)).status).toBe(415)
})

test('a body is needed unless it is not', async () => {
  expect((await appOf(NOTE).inject({ method: 'POST' })).status).toBe(400)
  expect((await appOf(NOTE).inject({ method: 'POST', body: '' })).status).toBe(400)
  expect((await appOf(NOTE, { required: false }).inject({ method: 'POST' })).status).toBe(200)
})

test('a body past the limit is 413, declared or not', async () => {
  const long = JSON.stringify({ text: 'a', tags: Array.from({ length: 50 }, () => 'red') })
  expect((await send(long, { maxBody: 100 })).status).toBe(413)
  expect((await send(long, { maxBody: long.length })).status).toBe(200)
  expect(
    (await send(gzipSync(JSON.stringify({ text: ' '.repeat(100_000) })), {}, { 'Content-Encoding': 'gzip' }))
      .status,
  ).toBe(413)
})

test('drafts and references', async () => {
  const draft7: JsonSchema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'array',
    items: [{ type: 'string' }],
    minItems: 1,
    additionalItems: false,
  }
  const prefix: JsonSchema = { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1, items: false }
  const referring: JsonSchema = { $ref: 'https://example.com/short' }
  const post = async (schema: JsonSchema, body: unknown, options?: JsonSchemaOptions) =>
    (
      await appOf(schema, options).inject({
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      })
    ).status
  expect([await post(draft7, ['a']), await post(draft7, [1])]).toEqual([200, 400])
  expect([await post(prefix, ['a']), await post(prefix, ['a', 1])]).toEqual([200, 400])
  const schemas = [{ $id: 'https://example.com/short', type: 'string', maxLength: 2 }]
  expect([await post(referring, 'ab', { schemas }), await post(referring, 'abc', { schemas })]).toEqual([
    200, 400,
  ])
})

test('what cannot work is told when it is built', () => {
  const placesOf = (schema: unknown, options?: unknown): string[] => {
    try {
      jsonSchema(schema as JsonSchema, options as JsonSchemaOptions)
      return []
    } catch (error) {
      return (error as ConfigError).faults.map(fault => fault.place)
    }
  }
  expect(placesOf({ type: 'strin' })).toEqual(['jsonSchema.schema'])
  expect(placesOf({ typ: 'string' })).toEqual(['jsonSchema.schema'])
  expect(placesOf({ type: 'string', format: 'shoe-size' })).toEqual(['jsonSchema.schema'])
  expect(placesOf({ $ref: 'https://example.com/nowhere' })).toEqual(['jsonSchema.schema'])
  expect(placesOf({ $async: true, type: 'object' })).toEqual(['jsonSchema.schema'])
  expect(
    placesOf(true, { maxBody: 1, maxErrors: 0, allErrors: 1, required: 0, schemas: 1, nope: 1 }),
  ).toEqual([
    ...['jsonSchema.nope', 'jsonSchema.maxBody', 'jsonSchema.maxErrors', 'jsonSchema.allErrors'],
    ...['jsonSchema.required', 'jsonSchema.schemas'],
  ])
  expect(() => jsonSchema({ type: 'nope' })).toThrow(ConfigError)
})
