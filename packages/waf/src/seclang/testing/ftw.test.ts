/** The regression tests of the Core Rule Set. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { programOf } from '../api/engine.ts'
import { preamble } from '../api/recommended.ts'
import { seclang } from '../api/seclang.ts'
import { findFiles } from './find-files.ts'
import { isForServers, runFtw } from './ftw.ts'
import { parseGoFtw } from './go-ftw.ts'
import { readFtw } from './read-ftw.ts'
import { ftwSettings, ruleFiles } from './settings.ts'
import type { FtwTest } from './types.ts'

const folder = '../shared'
const there = existsSync(`${folder}/seclang/ftw.open.jsonl`) && existsSync(`${folder}/crs/rules`)

/** Tests that only a server can answer: it refuses the request before any rule runs. */
const SERVER = new Set(['920181-1', '920430-5', '920620-1', '921140-1'])

interface Written extends FtwTest {
  ruleId: number
  testId: number
  notes?: string[]
}

describe.skipIf(!there)('the tests of the Core Rule Set (skipped: ../shared/crs is not there)', () => {
  const tests = there ? (readFtw(`${folder}/seclang/ftw.open.jsonl`)[0]!.tests as readonly Written[]) : []

  it('pass, but for what a server must answer', { timeout: 300_000 }, async () => {
    const program = programOf(await seclang({ ...ftwSettings, files: ruleFiles(`${folder}/crs`) }))!
    const failed = tests
      .filter(({ id }) => !SERVER.has(id))
      .flatMap(one => {
        const problem = runFtw(program, one)
        return problem === null ? [] : [`${one.id}: ${problem}`]
      })
    expect(failed).toEqual([])
    expect(tests.length).toBe(3623)
    // Those that say nothing about rules are few.
    expect(tests.filter(isForServers).length).toBeLessThan(25)
  })

  it('written as YAML they are the same requests', { timeout: 120_000 }, () => {
    let compared = 0
    // One in ten, and all that are unusual.
    const some = tests.filter(one => tests.indexOf(one) % 10 === 0 || isUnusual(one))
    for (const one of some) {
      const [read] = parseGoFtw(yamlOf(one))
      expect(read!.id).toBe(one.id)
      for (const [index, { input, output, backend }] of one.stages.entries()) {
        const mine = read!.stages[index]!
        // Bodies made by a template came evaluated.
        if (input.sent !== null && input.sent !== undefined)
          expect({ id: one.id, ...mine.input.sent }).toEqual({
            id: one.id,
            headers: input.sent.headers,
            body: input.sent.body,
          })
        else
          expect({ ...mine.input.parsed, body: bytes(mine.input.parsed!.body) }).toEqual({
            ...input.parsed,
            body: bytes(input.parsed!.body),
          })
        expect(mine.output).toMatchObject({
          status: output.status,
          expectIds: output.expectIds,
          noExpectIds: output.noExpectIds,
          logContains: output.logContains,
          noLogContains: output.noLogContains,
          expectError: output.expectError,
        })
        expect([one.id, mine.backend.status, bytes(mine.backend.body), mine.backend.headers]).toEqual([
          one.id,
          backend.status,
          bytes(backend.body),
          backend.headers,
        ])
        compared += 1
      }
    }
    expect(compared).toBeGreaterThan(500)
  })
})

function bytes(body: unknown): string {
  const { text, base64 } =
    typeof body === 'string' ? { text: body } : (body as { text?: string; base64?: string })
  return base64 === undefined
    ? Buffer.from(text ?? '').toString('hex')
    : Buffer.from(base64, 'base64').toString('hex')
}

function isUnusual({ stages, notes }: Written): boolean {
  return (
    notes !== undefined ||
    stages.length > 1 ||
    stages.some(({ input, output, backend }) => {
      const { autocomplete = true } = input as { autocomplete?: boolean }
      return (
        !autocomplete ||
        !input.sent ||
        output.expectError ||
        output.status !== null ||
        backend.body !== '' ||
        /multipart/.test(JSON.stringify(input.sent.headers))
      )
    })
  )
}

/** The YAML that the JSON was made of, as far as its fields go. */
function yamlOf({ ruleId, testId, stages }: Written): string {
  const written = stages.map(({ input, output }) => {
    const given = input as unknown as {
      headers?: [string, string][]
      data?: { text: string } | null
      autocomplete: boolean
      encodedRequest?: string
    }
    const log = {
      ...(output.expectIds.length > 0 ? { expect_ids: output.expectIds } : {}),
      ...(output.noExpectIds.length > 0 ? { no_expect_ids: output.noExpectIds } : {}),
      ...(output.logContains === null ? {} : { match_regex: output.logContains }),
      ...(output.noLogContains === null ? {} : { no_match_regex: output.noLogContains }),
    }
    return {
      input:
        given.encodedRequest === undefined
          ? {
              method: input.method,
              uri: input.uri,
              version: input.version,
              headers: Object.fromEntries(given.headers!),
              ...(given.data ? { data: given.data.text } : {}),
              ...(given.autocomplete ? {} : { autocomplete_headers: false }),
            }
          : { encoded_request: given.encodedRequest },
      output: {
        ...(output.status === null ? {} : { status: output.status }),
        ...(output.expectError ? { expect_error: true } : {}),
        log,
      },
    }
  })
  return stringify({ rule_id: ruleId, tests: [{ test_id: testId, stages: written }] })
}

describe('go-ftw', () => {
  const YAML = `
meta: { name: 1.yaml }
rule_id: 1
tests:
  - test_id: 1
    stages:
      - input: { uri: "/?a=evil", headers: { Host: localhost, Accept: "*/*" } }
        output: { log: { expect_ids: [1], no_match_regex: 'id "2"' } }
  - test_id: 2
    stages:
      - input: { method: POST, data: "a=an evil<one>&b", headers: { Host: localhost } }
        output: { log: { expect_ids: [1] } }
  - test_title: old-3
    stages:
      - stage:
          input: { uri: /, headers: { Host: localhost } }
          output: { status: [200, 404], no_log_contains: 'id "1"' }
  - test_id: 4
    stages:
      - input: { method: POST, data: '{{ "evil" | repeat 3 }}', headers: { Host: localhost, Content-Type: text/plain } }
        output: { log: { no_expect_ids: [1] } }
`
  test('reads both formats, and does what go-ftw does', async () => {
    const tests = parseGoFtw(YAML)
    expect(tests.map(({ id }) => id)).toEqual(['1-1', '1-2', 'old-3', '1-4'])
    expect(tests[1]!.stages[0]!.input.sent).toEqual({
      headers: [
        ['Host', 'localhost'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Connection', 'close'],
        ['Content-Length', '20'],
      ],
      body: { text: 'a=an+evil%3Cone%3E&b' },
    })
    expect(tests[3]!.stages[0]!.input.sent!.body.text).toBe('evilevilevil')
    const engine = await seclang({ rules: 'SecRule ARGS "@contains evil" "id:1,phase:2,pass,log"' })
    expect(tests.map(one => runFtw(programOf(engine)!, one))).toEqual([null, null, null, null])
    const other = await seclang({ rules: 'SecRule ARGS "@contains good" "id:1,phase:2,pass,log"' })
    expect(runFtw(programOf(other)!, tests[0]!)).toBe('rule 1 did not match')
  })
  test.each([
    ['tests: 1', /no list of tests/],
    ['tests: [{ test_id: 1 }]', /no stages/],
    ['rule_id: 7\ntests: [{ test_id: 1, stages: [{ output: {} }] }]', /7-1: a stage has no input/],
    ['a: [', /./],
  ])('%s is refused', (text, problem) => {
    expect(() => parseGoFtw(text)).toThrow(problem)
  })
})

test('files are found as suites are laid out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-tests-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'a/b'), { recursive: true })
  for (const name of ['1.yaml', 'a/2.yaml', 'a/b/3.yml', 'a/b/4.jsonl', 'a/note.txt', '.hidden.yaml'])
    await writeFile(join(folder, name), '---\n')
  await symlink(folder, join(folder, 'a/up'))
  const found = (pattern: string): string[] =>
    findFiles(join(folder, pattern)).map(file => relative(folder, file))
  expect(found('*.yaml')).toEqual(['1.yaml'])
  expect(found('*/*.yaml')).toEqual(['a/2.yaml'])
  expect(found('**/*.y?ml')).toEqual(['1.yaml', 'a/2.yaml'])
  expect(found('**/*.y*ml')).toEqual(['1.yaml', 'a/2.yaml', 'a/b/3.yml'])
  expect(found('a/b')).toEqual(['a/b/3.yml', 'a/b/4.jsonl'])
  expect(found('a/note.txt')).toEqual(['a/note.txt'])
  expect(() => found('*.json')).toThrow(/no file fits/)
  expect(readFtw(join(folder, '1.yaml'))[0]!.tests).toEqual([])
})

test('the settings are those of the recommended configuration, and tell only', () => {
  expect(preamble(ftwSettings)).toContain('SecRuleEngine DetectionOnly')
})
