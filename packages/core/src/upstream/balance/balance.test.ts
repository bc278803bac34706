import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testContext } from '../../testing/context.ts'
import type { Balancer, Candidate } from './balancer.ts'
import { consistentHash, score } from './consistent-hash.ts'
import { hash32, mix32, seedOf } from './hash.ts'
import { leastRequests } from './least-requests.ts'
import { PeakEwma } from './peak-ewma.ts'
import { roundRobin } from './round-robin.ts'
import { twoChoices } from './two-choices.ts'
import { weighted } from './weighted.ts'

const candidate = (id: string, weight = 1, inFlight = 0): Candidate & { inFlight: number } => ({
  id,
  seed: seedOf(id),
  inFlight,
  share: () => weight,
  latency: new PeakEwma(),
  credit: 0,
})
const named = (...ids: string[]): Candidate[] => ids.map(id => candidate(id))
const picks = (balancer: Balancer, ready: readonly Candidate[], times: number): string =>
  Array.from({ length: times }, () => balancer.pick(ready, null).id).join('')
const counts = (text: string): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const id of text) found[id] = (found[id] ?? 0) + 1
  return found
}

test('round robin takes each in turn, also when the list changes', () => {
  const balancer = roundRobin()
  expect(picks(balancer, named('a', 'b', 'c'), 7)).toBe('abcabca')
  expect(counts(picks(balancer, named('a', 'b'), 10))).toEqual({ a: 5, b: 5 })
  expect(picks(balancer, named('z'), 3)).toBe('zzz')
})

describe('weighted', () => {
  test('spreads the turns of the heavy one', () => {
    const ready = [candidate('a', 5), candidate('b'), candidate('c')]
    expect(picks(weighted(), ready, 7)).toBe('aabacaa')
  })

  test('keeps the shares exactly over a full round, whatever the weights', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }), weights => {
        const ready = weights.map((weight, at) => candidate(String(at), weight))
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        const found = counts(picks(weighted(), ready, total))
        expect(weights.map((_, at) => found[String(at)] ?? 0)).toEqual(weights)
      }),
    )
  })
})

describe('least requests', () => {
  test('takes the least loaded for its weight', () => {
    const ready = [candidate('a', 1, 2), candidate('b', 1, 1), candidate('c', 1, 5)]
    expect(picks(leastRequests(), ready, 3)).toBe('bbb')
    const heavy = [candidate('a', 1, 1), candidate('b', 4, 3)]
    expect(picks(leastRequests(), heavy, 2)).toBe('bb')
  })

  test('takes equals in turn', () => {
    expect(counts(picks(leastRequests(), named('a', 'b', 'c'), 9))).toEqual({ a: 3, b: 3, c: 3 })
  })

  test('never takes one with more than the least', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }), loads => {
        const ready = loads.map((load, at) => candidate(String(at), 1, load))
        expect(leastRequests().pick(ready, null).inFlight).toBe(Math.min(...loads))
      }),
    )
  })
})

describe('peak EWMA', () => {
  test('believes a peak at once and an improvement slowly', () => {
    const latency = new PeakEwma()
    expect(latency.read(0)).toBe(0)
    latency.observe(10, 1000)
    expect(latency.read(1000)).toBe(10)
    latency.observe(500, 1001)
    expect(latency.read(1001)).toBe(500)
    latency.observe(10, 1002)
    expect(latency.read(1002)).toBeGreaterThan(490)
    for (let now = 1003; now < 80_000; now += 10) latency.observe(10, now)
    expect(latency.read(80_000)).toBeLessThan(11)
  })

  test('falls without requests, so that a slow target is tried again', () => {
    const latency = new PeakEwma()
    latency.observe(1000, 0)
    expect(latency.read(30_000)).toBeLessThan(60)
  })

  test('stays between the least and the greatest that was observed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(1000)), { minLength: 1 }),
        seen => {
          const latency = new PeakEwma()
          let now = 1
          for (const [ms, gap] of seen) latency.observe(ms, (now += gap))
          expect(latency.read(now)).toBeLessThanOrEqual(Math.max(...seen.map(([ms]) => ms)))
          expect(latency.read(now)).toBeGreaterThan(0)
        },
      ),
    )
  })
})

describe('two choices', () => {
  const now = () => 1000
  test('takes the cheaper of two', () => {
    const [slow, fast] = [candidate('s'), candidate('f')]
    slow.latency.observe(100, 1000)
    fast.latency.observe(10, 1000)
    expect(picks(twoChoices(Math.random, now), [slow, fast], 20)).toBe('f'.repeat(20))
    fast.inFlight = 10
    expect(picks(twoChoices(Math.random, now), [slow, fast], 20)).toBe('s'.repeat(20))
  })

  test('always compares two different ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 30 }),
        fc.noBias(fc.double({ min: 0, max: 0.999999, noNaN: true })),
        (size, drawn) => {
          const ready = Array.from({ length: size }, (_, at) => candidate(String(at), 1, at === 0 ? 0 : 9))
          // The first choice is target 0; whichever the second is, 0 is cheaper.
          const draws = [0, drawn]
          expect(twoChoices(() => draws.shift()!, now).pick(ready, null).id).toBe('0')
        },
      ),
    )
  })

  test('does not flood one that has not answered yet', () => {
    const [fresh, known] = [candidate('n'), candidate('k')]
    known.latency.observe(10, 1000)
    expect(picks(twoChoices(Math.random, now), [fresh, known], 3)).toBe('nnn')
    fresh.inFlight = 1
    expect(picks(twoChoices(Math.random, now), [fresh, known], 3)).toBe('kkk')
  })
})

describe('consistent hash', () => {
  const keys = Array.from({ length: 10_000 }, (_, at) => `client-${at}`)
  const byHeader = () => consistentHash({ header: 'X-Key' }, roundRobin())
  const place = (ready: readonly Candidate[], balancer = byHeader()): Map<string, string> =>
    new Map(keys.map(key => [key, balancer.pick(ready, testContext({ headers: { 'x-key': key } })).id]))
  const moved = (a: Map<string, string>, b: Map<string, string>): string[] =>
    keys.filter(key => a.get(key) !== b.get(key))

  test('B067 one target less moves its keys alone; they return with it; order does not count', () => {
    const five = named('a', 'b', 'c', 'd', 'e')
    const before = place(five)
    const without = place(five.filter(target => target.id !== 'c'))
    for (const key of moved(before, without)) expect(before.get(key)).toBe('c')
    expect(moved(before, without).length).toBeGreaterThan(1600)
    expect(moved(before, without).length).toBeLessThan(2400)
    expect(moved(before, place([...five].reverse()))).toEqual([])
    expect(moved(before, place(named('e', 'c', 'a', 'b', 'd')))).toEqual([])
    const six = place([...five, candidate('f')])
    for (const key of moved(before, six)) expect(six.get(key)).toBe('f')
  })

  test('shares follow weights', () => {
    const found = counts([...place([candidate('a', 3), candidate('b', 1)]).values()].join(''))
    expect(found.a! / found.b!).toBeGreaterThan(2.6)
    expect(found.a! / found.b!).toBeLessThan(3.4)
  })

  test.each([
    ['a header', { header: 'X-User' } as const, { 'x-user': 'bob' }, {}],
    ['a cookie', { cookie: 'uid' } as const, { cookie: 'a=b; uid="bob"' }, { cookie: 'uid2=bob' }],
    ['a function', () => 'bob', {}, null],
    ['the address', 'address' as const, {}, null],
  ])('by %s', (_what, by, headers, missing) => {
    const ready = named('a', 'b', 'c', 'd')
    const balancer = consistentHash(by, roundRobin())
    const found = Array.from({ length: 8 }, () => balancer.pick(ready, testContext({ headers })).id)
    expect(new Set(found).size).toBe(1)
    if (missing === null) return
    const others = Array.from({ length: 4 }, () => balancer.pick(ready, testContext({ headers: missing })).id)
    expect(others).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a function that throws or gives something else gives no key', () => {
    const ready = named('a', 'b', 'c')
    for (const by of [() => 7, () => null, () => '']) {
      const balancer = consistentHash(by as never, roundRobin())
      expect(Array.from({ length: 3 }, () => balancer.pick(ready, testContext()).id).join('')).toBe('abc')
    }
    const broken = consistentHash(() => {
      throw new Error('the key is broken')
    }, roundRobin())
    expect(Array.from({ length: 3 }, () => broken.pick(ready, testContext()).id).join('')).toBe('abc')
  })

  test('an IPv6 client stays when it changes its address inside its network', () => {
    const ready = named('a', 'b', 'c', 'd')
    const balancer = consistentHash('address', roundRobin())
    const at = (address: string) => balancer.pick(ready, testContext({ peer: { address } })).id
    expect(at('2001:db8::1')).toBe(at('2001:db8::ffff:2'))
  })

  test('is the same as the plain highest score, whatever the shares', () => {
    const targets = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 4 })), {
      minLength: 1,
      maxLength: 12,
      selector: ([id]) => id,
    })
    fc.assert(
      fc.property(targets, fc.string({ minLength: 1 }), (list, key) => {
        const ready = list.map(([id, weight]) => candidate(id, weight))
        const plain = [...ready]
          .map(target => ({ id: target.id, score: score(target.share(), mix32(hash32(key) ^ target.seed)) }))
          .reduce((a, b) => (b.score > a.score || (b.score === a.score && b.id < a.id) ? b : a))
        expect(consistentHash(() => key, roundRobin()).pick(ready, testContext()).id).toBe(plain.id)
      }),
    )
  })

  test('the hash is the same in every process', () => {
    expect([hash32(''), hash32('a'), hash32('client-1'), hash32('é')]).toMatchInlineSnapshot(`
      [
        0,
        721651713,
        661308303,
        3366485651,
      ]
    `)
  })
})
