/** Tests of the Core Rule Set end to end: bytes over a socket to an edge with the rules, which forwards to an origin. */
import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { seclang } from '../src/index.ts'
import { openEdge } from '../src/seclang/testing/edge.ts'
import { type FtwTest, ftwSettings, readFtw, ruleFiles } from '../src/testing/index.ts'

const folder = '../shared/crs'
const suite = '../shared/seclang/ftw.open.jsonl'
const there = existsSync(`${folder}/rules`) && existsSync(suite)

/**
 * Tests for which the edge answers before a rule runs, and the test does not ask for that: what it says of them. The rest of
 * those that need a server ask for 400, and get it.
 */
const REFUSED: Readonly<Record<string, string>> = {
  // No methods of HTTP: the parser takes none of them.
  '911100-5': 'answered 400',
  '911100-7': 'answered 400',
  '920100-10': 'answered 400',
  '920100-14': 'answered 400',
  '949110-4': 'answered 400',
  // CONNECT: this is no forward proxy. 920100-5 expects 400.
  '920100-4': 'answered 405',
  '920100-5': 'answered 405',
  '920100-6': 'answered 405',
  '920300-3': 'answered 405',
  // A fragment in the target; HTTP/2.0 in a request line; Content-Length beside chunks; no host to read.
  '920100-7': 'answered 400',
  '920180-4': 'answered 400',
  '920181-1': 'answered 400',
  '920290-2': 'answered 400',
  '920290-4': 'answered 400',
  // Bytes beyond ASCII in the target.
  '934120-24': 'answered 400',
  '934120-25': 'answered 400',
  '934120-26': 'answered 400',
  '934120-39': 'answered 400',
}

/** Tests that come out otherwise than on Apache, and why that is right. */
const OTHERWISE: Readonly<Record<string, string>> = {
  // `GET http://localhost`: rules see the path that the upstream sees, which is `/`.
  '920100-16': 'rule 920100 did not match',
  // Two Content-Type fields stay two, as on nginx and Go, whose overrides expect the rule to match.
  '920620-1': 'rule 920620 matched',
}

/** What only a server can answer, the bare CR and HTTP/0.9 among it. */
const ANSWERED = [
  ...[
    '920100-2',
    '920100-8',
    '920100-11',
    '920100-12',
    '920100-13',
    '920100-15',
    '920160-1',
    '920160-2',
    '920160-3',
  ],
  ...[
    '920160-5',
    '920270-4',
    '920274-1',
    '920280-3',
    '920290-1',
    '920430-3',
    '920430-5',
    '920430-6',
    '920430-7',
  ],
  ...['920430-9', '920430-10', '920610-2', '921140-1'],
]

describe.skipIf(!there)(
  'the tests of the Core Rule Set through an edge (skipped: ../shared/crs is not there)',
  () => {
    test('a sample of them, and all that need a server', { timeout: 240_000 }, async () => {
      const tests = readFtw(suite)[0]!.tests
      const special = new Set([...Object.keys(REFUSED), ...Object.keys(OTHERWISE), ...ANSWERED])
      // Of replies one in three, of requests one in thirty.
      const sampled = ({ id }: FtwTest, index: number): boolean =>
        special.has(id) || (id.startsWith('95') ? index % 3 === 0 : index % 30 === 0)
      const sample = tests.filter(sampled)
      const edge = await openEdge(await seclang({ ...ftwSettings, files: ruleFiles(folder) }))
      onTestFinished(() => edge.close())

      const refused: Record<string, string> = {}
      const failed: Record<string, string> = {}
      let passed = 0
      for (const one of sample) {
        const { outcome, detail } = await edge.run(one)
        if (outcome === 'passed') passed += 1
        else (outcome === 'refused' ? refused : failed)[one.id] = detail
      }
      const present = (wanted: Readonly<Record<string, string>>): Record<string, string> =>
        Object.fromEntries(Object.entries(wanted).filter(([id]) => sample.some(one => one.id === id)))
      expect(refused).toEqual(present(REFUSED))
      expect(failed).toEqual(present(OTHERWISE))
      expect(passed).toBeGreaterThan(130)
    })
  },
)
