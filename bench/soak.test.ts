/** The soak as it is run by hand, for a few seconds. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { answerTo, bytesOf, hashOf } from './lib/soak-bodies.mjs'

it('no wrong body, no rejection, nothing left, each failure with a cause', { timeout: 180_000 }, () => {
  const program = fileURLToPath(new URL('soak.mjs', import.meta.url))
  const args = [program, '--seconds', '5', '--warm', '2', '--clients', '32']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/\nall holds\n$/)
  expect(status).toBe(0)
  // It was no idle run: some passed, some did not, and the log knows why.
  expect(stdout).toMatch(/whole [1-9]\d*, failed [1-9]\d*, cut [1-9]\d*, wrong 0/)
  expect(stdout).toMatch(/causes in the log: .*upstream-reset [1-9]/)
})

describe('bodies', () => {
  it('each text has its own, and one that is cut or put together from two has another hash', () => {
    const hashes = Array.from({ length: 2000 }, (_, i) => hashOf(bytesOf(String(i))))
    expect(new Set(hashes).size).toBe(2000)
    const [a, b] = [answerTo('/1', hashOf('')), answerTo('/2', hashOf(''))]
    for (const other of [b, a.subarray(0, a.length - 1), Buffer.concat([a, b])]) {
      expect(hashOf(other)).not.toBe(hashOf(a))
    }
    expect(hashOf(answerTo('/1', hashOf('')))).toBe(hashOf(a))
  })
})
