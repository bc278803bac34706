/** Some seconds of everything at once; `bench/cache-mixed.mjs` is the long form. */
import { expect, test } from 'vitest'
import { runMix } from '../../../bench/lib/cache-mix.mjs'

test('no answer is wrong, none is staler than allowed, and the bound holds', {
  timeout: 60_000,
}, async () => {
  const { faults, counts } = await runMix({ seconds: 4 })
  expect(faults).toEqual([])
  // It was a mix: each kind of thing has happened.
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(0)
})
