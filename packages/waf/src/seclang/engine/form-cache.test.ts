import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

it('keeps no body alive for a value that was part of it', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const cache = new FormCache()
  const before = heap()
  for (let i = 0; i < 40; i++) {
    // 1 MB a body, and a value of its own in each, seen once and seen twice.
    const whole = Buffer.from(`${'x'.repeat(1_000_000)} value number ${i} of a body`).toString('latin1')
    const value = whole.slice(1_000_000)
    cache.of(value)
    if (i % 2 === 0) cache.of(value)
  }
  expect(heap() - before).toBeLessThan(10_000_000)
})
