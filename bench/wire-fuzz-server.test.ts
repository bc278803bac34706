/** Requests on the wire against Node's parser: one reading of where a message ends, or none. */
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
