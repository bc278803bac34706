import { expect, test } from 'vitest'
import { randomHex } from './random-hex.ts'

test('each id is new, also across refills of the pool', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 5_000; i++) {
    const id = randomHex(i % 2 === 0 ? 16 : 8)
    expect(id).toMatch(i % 2 === 0 ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{16}$/)
    seen.add(id)
  }
  expect(seen.size).toBe(5_000)
})
