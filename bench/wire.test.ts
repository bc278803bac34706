/** The wire against the parsers of Node: one reading of where a message ends, or none. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fuzzServer } from './lib/wire-fuzz-server.mjs'

it('50,000 requests, right, wrong and cut anywhere: never more than Node takes, never framed in another way', {
  timeout: 300_000,
}, async () => {
  const found = await fuzzServer(50_000, 1)
  expect(found.differences).toEqual([])
  expect(found.cases).toBe(50_000)
  // The wire has read most of what was right, and there was enough that was not.
  expect(found.wire).toBeGreaterThan(20_000)
  expect(found.refused).toBeGreaterThan(20_000)
  expect(found.stricter).toBeLessThan(500)
})

it('wire-fuzz.mjs runs', () => {
  const program = fileURLToPath(new URL('wire-fuzz.mjs', import.meta.url))
  const args = [program, '--side', 'server', '--count', '200', '--seed', '7']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stdout).toMatch(/"cases":200.*"differences":0/)
  expect(status).toBe(0)
})
