import { expect, it } from 'vitest'
import { FormCache } from './form-cache.ts'

it('keeps what comes a second time', () => {
  const cache = new FormCache()
  const first = cache.of('a')
  const second = cache.of('a')
  expect(second).not.toBe(first)
  expect(cache.of('a')).toBe(second)
  expect(cache.of('b').text).toBe('b')
})

it('keeps no long values, and forgets what others push out', () => {
  const cache = new FormCache()
  const long = 'x'.repeat(300)
  cache.of(long)
  expect(cache.of(long)).not.toBe(cache.of(long))
  cache.of('a')
  const kept = cache.of('a')
  for (let i = 0; i < 5000; i++) {
    cache.of(`value ${i}`)
    cache.of(`value ${i}`)
  }
  expect(cache.of('a')).not.toBe(kept)
})
