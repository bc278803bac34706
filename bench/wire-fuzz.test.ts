import { expect, it } from 'vitest'
import { readAnswer } from '../packages/core/src/wire/client/read-answer.ts'
import { readWithNode } from './lib/node-parser.mjs'
import { readWithUndici } from './lib/undici-answers.mjs'
import { compareAnswers, compareWithUndici } from './lib/wire-fuzz-client.mjs'

const SEED = 1

it('50,000 answers with something wrong: as Node reads them, or refused', () => {
  const { seen, differences } = compareAnswers(readAnswer, 50_000, SEED)
  expect(differences).toEqual([])
  // All kinds are among them, and most refusals are Node's, too: what is compared is not only nonsense.
  expect(seen.whole).toBeGreaterThan(10_000)
  expect(seen.more).toBeGreaterThan(1000)
  expect(seen.bad).toBeGreaterThan(10_000)
  expect(seen.refusedByBoth).toBeGreaterThan(seen.bad / 2)
}, 120_000)

it('1,000 of them: as undici reads them, or refused', async () => {
  const { compared, differences } = await compareWithUndici(readAnswer, 1000, SEED)
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(200)
}, 60_000)

it('the comparison sees what is framed otherwise', () => {
  const wrong: typeof readAnswer = (pieces, method, closed) => {
    const read = readAnswer(pieces, method, closed)
    return read.what === 'whole' && read.body.length > 1
      ? { ...read, body: read.body.slice(1), rest: read.rest + 1 }
      : read
  }
  expect(compareAnswers(wrong, 200, SEED).differences.length).toBeGreaterThan(10)
})

it('the others read plain answers', async () => {
  const text = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n1\r\nx\r\n0\r\nC: d\r\n\r\n'
  const expected = { what: 'whole', status: 200, body: 'x', trailers: ['C', 'd'] }
  expect(readWithNode([Buffer.from(text)], 'GET', false)).toMatchObject(expected)
  expect(await readWithUndici([Buffer.from(text)], 'GET', false)).toMatchObject(expected)
})
