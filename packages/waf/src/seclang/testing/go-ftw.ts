/**
 * Tests as go-ftw reads them from YAML, brought into the form that is run. What go-ftw does to a request before it is sent
 * is done here: fields in order of their names, templates, encoding of forms, line ends of multipart bodies, fields added.
 */
import { parse } from 'yaml'
import { utf8Bytes } from '../transform/bytes.ts'
import { backendFor } from './backend.ts'
import { expandTemplate } from './template.ts'
import type { FtwInput, FtwOutput, FtwStage, FtwTest } from './types.ts'
import { parseRequest } from './wire.ts'

const FORM = 'application/x-www-form-urlencoded'

/** Every scalar as it is written: `1.0` stays `1.0`, as Go's reader has it. */
type Tree = { readonly [name: string]: Tree } | readonly Tree[] | string | null | undefined

/**
 * Reads a YAML file of go-ftw.
 * @throws Error that says what is missing where.
 */
export function parseGoFtw(text: string): FtwTest[] {
  const tree = parse(text, { schema: 'failsafe', maxAliasCount: 100 }) as Tree
  const file = mapOf(tree)
  const tests = file.tests
  if (!Array.isArray(tests)) throw new Error('there is no list of tests')
  const rule = textOf(file.rule_id) ?? textOf(mapOf(file.meta).name)?.replace(/\.ya?ml$/, '') ?? 'test'
  return tests.map((test: Tree, index) => {
    const { test_id, test_title, stages } = mapOf(test)
    const id = textOf(test_title) ?? `${rule}-${textOf(test_id) ?? index + 1}`
    if (!Array.isArray(stages) || stages.length === 0) throw new Error(`${id}: there are no stages`)
    return { id, stages: stages.map((stage: Tree) => stageOf(mapOf(stage), id)) }
  })
}

function stageOf(given: Readonly<Record<string, Tree>>, id: string): FtwStage {
  // The older format has one level more.
  const stage = given.stage === undefined ? given : mapOf(given.stage)
  if (stage.input === undefined) throw new Error(`${id}: a stage has no input`)
  const input = inputOf(mapOf(stage.input), id)
  return { input, output: outputOf(mapOf(stage.output)), backend: backendFor(input) }
}

function inputOf(tree: Readonly<Record<string, Tree>>, id: string): FtwInput {
  const method = textOf(tree.method) ?? 'GET'
  const uri = textOf(tree.uri) ?? '/'
  const version = textOf(tree.version) ?? 'HTTP/1.1'
  const encoded = textOf(tree.encoded_request)
  if (encoded !== null && encoded !== '') {
    const bytes = Buffer.from(encoded, 'base64')
    const { method, target, protocol, headers, body } = parseRequest(bytes)
    const parsed = { method, uri: target, version: protocol, headers, body: { base64: base64Of(body) } }
    return { method, uri: target, version: protocol, sent: null, parsed: decoded(parsed), wire: encoded }
  }
  const { data } = tree
  const raw = Array.isArray(data) ? data.map(textOf).join('\r\n') : (textOf(data as Tree) ?? '')
  const automatic = textOf(tree.autocomplete_headers) !== 'false' && textOf(tree.stop_magic) !== 'true'
  const headers = Object.entries(mapOf(tree.headers)).map(([name, value]): [string, string] => [
    name,
    textOf(value) ?? '',
  ])
  if (/^\s*$/.test(method)) throw new Error(`${id}: the method is empty`)
  return { method, uri, version, sent: sentOf(method, headers, expandTemplate(raw), automatic) }
}

/** Latin1 strings of a parsed request as the text that other inputs have. */
function decoded<T extends { uri: string; headers: readonly (readonly [string, string])[] }>(head: T): T {
  const text = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')
  return { ...head, uri: text(head.uri), headers: head.headers.map(([n, v]) => [text(n), text(v)] as const) }
}

function sentOf(
  method: string,
  given: readonly (readonly [string, string])[],
  data: string,
  automatic: boolean,
): NonNullable<FtwInput['sent']> {
  const headers = [...given].sort(([a], [b]) => (utf8Bytes(a) < utf8Bytes(b) ? -1 : 1))
  const field = (name: string): string | undefined => headers.find(([key]) => key.toLowerCase() === name)?.[1]
  let body = data
  if (automatic && body !== '') {
    if (field('content-type') === undefined) headers.push(['Content-Type', FORM])
    if (field('content-type')!.toLowerCase() === FORM && !/[%+]/.test(body)) body = encodeForm(body)
  }
  if (/multipart\/form-data;/i.test(field('content-type') ?? '')) body = body.replaceAll('\n', '\r\n')
  if (automatic) {
    if (field('connection') === undefined) headers.push(['Connection', 'close'])
    const length = Buffer.byteLength(body)
    if (field('content-length') === undefined && (length > 0 || /^POST|PUT|PATCH|DELETE$/.test(method)))
      headers.push(['Content-Length', String(length)])
  }
  return { headers, body: { text: body } }
}

/** Names and values as Go's `url.QueryEscape` writes them. */
function encodeForm(data: string): string {
  const pairs = data.split('&')
  if (pairs.at(-1) === '') pairs.pop()
  return pairs
    .map(pair => {
      const equals = pair.indexOf('=')
      if (equals === -1) return queryEscape(pair)
      return `${queryEscape(pair.slice(0, equals))}=${queryEscape(pair.slice(equals + 1))}`
    })
    .join('&')
}

function queryEscape(text: string): string {
  return [...Buffer.from(text)]
    .map(byte => {
      const char = String.fromCharCode(byte)
      if (/[\w.~-]/.test(char)) return char
      return char === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function outputOf(tree: Readonly<Record<string, Tree>>): FtwOutput {
  const log = mapOf(tree.log)
  const status = Array.isArray(tree.status) ? tree.status.map(Number) : textOf(tree.status as Tree)
  return {
    status: status === null ? null : Array.isArray(status) ? status : Number(status),
    expectIds: numbers(log.expect_ids),
    noExpectIds: numbers(log.no_expect_ids),
    logContains: textOf(log.match_regex) ?? textOf(tree.log_contains),
    noLogContains: textOf(log.no_match_regex) ?? textOf(tree.no_log_contains),
    expectError: textOf(tree.expect_error) === 'true',
  }
}

function numbers(tree: Tree): number[] {
  return Array.isArray(tree) ? tree.map(Number) : []
}

function mapOf(tree: Tree): Readonly<Record<string, Tree>> {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree)
    ? (tree as Readonly<Record<string, Tree>>)
    : {}
}

function textOf(tree: Tree): string | null {
  return typeof tree === 'string' ? tree : null
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
