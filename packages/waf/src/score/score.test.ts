import { describe, expect, it } from 'vitest'
import { DEFAULT_THRESHOLD, MOST_PER_PLACE, MOST_WEAK_PER_PLACE, tally } from './score.ts'

describe('the tally', () => {
  it('adds up findings of all places', () => {
    const score = tally()
    score.start()
    score.add(3)
    score.nextPlace()
    score.add(3)
    expect(score.total()).toBe(6)
  })

  it('does not let weak findings of one place reach the threshold', () => {
    const score = tally()
    score.start()
    for (let i = 0; i < 20; i += 1) score.add(2)
    expect(score.total()).toBe(MOST_WEAK_PER_PLACE)
    expect(score.total()).toBeLessThan(DEFAULT_THRESHOLD)
    score.add(3)
    expect(score.total()).toBe(MOST_WEAK_PER_PLACE + 3)
  })

  it('bounds a place', () => {
    const score = tally()
    score.start()
    for (let i = 0; i < 20; i += 1) score.add(5)
    expect(score.total()).toBe(MOST_PER_PLACE)
  })

  it('starts anew', () => {
    const score = tally()
    score.start()
    score.add(5)
    score.start()
    expect(score.total()).toBe(0)
  })
})
