import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MinimumRate, Pace, type Sender } from './minimum-rate.ts'

class Manual implements Sender {
  received = 0
  due = true
  slow = 0
  readonly pace = new Pace()
  tooSlow(): void {
    this.slow++
  }
}

/** Rate 1000 bytes a second, grace 8 s, looked at each second of a clock that is set by hand. */
function manual() {
  let now = 0
  const rate = new MinimumRate(1000, 8000, () => now)
  const sender = new Manual()
  rate.add(sender)
  const pass = (seconds: number, bytes: number): void => {
    for (let i = 0; i < seconds; i++) {
      sender.received += bytes
      now += 1000
      rate.look()
    }
  }
  return { rate, sender, pass }
}

describe('a sender', () => {
  it('that keeps the rate is never cut', () => {
    const { rate, sender, pass } = manual()
    pass(1000, 1000)
    expect([sender.slow, rate.size]).toEqual([0, 1])
    rate.remove(sender)
  })

  it('that is silent is cut after the grace, once', () => {
    const { rate, sender, pass } = manual()
    pass(8, 0)
    expect(sender.slow).toBe(0)
    pass(5, 0)
    expect([sender.slow, rate.size]).toEqual([1, 0])
  })

  it('that drips is cut later, and still cut', () => {
    const { sender, pass } = manual()
    pass(15, 500)
    expect(sender.slow).toBe(0)
    pass(2, 500)
    expect(sender.slow).toBe(1)
  })

  it('buys no longer silence with a burst', () => {
    const { sender, pass } = manual()
    pass(1, 1_000_000)
    pass(9, 0)
    expect(sender.slow).toBe(1)
  })

  it('that waits for us is not to blame, and begins anew', () => {
    const { rate, sender, pass } = manual()
    pass(7, 0)
    sender.due = false
    pass(100, 0)
    sender.due = true
    pass(8, 0)
    expect(sender.slow).toBe(0)
    pass(1, 0)
    expect(sender.slow).toBe(1)
    expect(rate.size).toBe(0)
  })

  it('is not blamed for time in which the process stood still', () => {
    let now = 0
    const rate = new MinimumRate(1000, 8000, () => now)
    const sender = new Manual()
    rate.add(sender)
    now += 3_600_000
    rate.look()
    expect(sender.slow).toBe(0)
    rate.remove(sender)
  })

  it('may leave while others are looked at', () => {
    let now = 0
    const rate = new MinimumRate(1, 10, () => now)
    const [a, b] = [new Manual(), new Manual()]
    a.tooSlow = () => rate.remove(b)
    rate.add(a)
    rate.add(b)
    now += 10
    rate.look()
    now += 10
    rate.look()
    expect([b.slow, rate.size]).toEqual([0, 0])
  })
})

it('is cut exactly when it falls behind by more than the grace', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4000), { maxLength: 200 }), amounts => {
      const { rate, sender, pass } = manual()
      let credit = 8000
      let cut = false
      for (const bytes of amounts) {
        pass(1, bytes)
        if (!cut) {
          credit = Math.min(8000, credit + bytes) - 1000
          cut = credit < 0
        }
        if ((sender.slow === 1) !== cut) return false
      }
      rate.remove(sender)
      return true
    }),
  )
})
