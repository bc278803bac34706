import { expect, test } from 'vitest'
import type { Deadline, Deadlines } from '../../proxy/deadlines.ts'
import { Stall } from './stall.ts'

const PART = 131_072

/** Deadlines that pass when told. */
function clock() {
  let item: Deadline | null = null
  const deadlines = {
    add(one: Deadline) {
      item = one
      one.deadline.at = 1
    },
    remove(one: Deadline) {
      if (item === one) item = null
      one.deadline.at = 0
    },
  }
  return {
    deadlines: deadlines as unknown as Deadlines,
    pass() {
      const due = item
      if (!due) return false
      deadlines.remove(due)
      due.onDeadline()
      return true
    },
  }
}

function stalled(unsent: () => number | null) {
  const cuts: string[] = []
  const { deadlines, pass } = clock()
  const stall = new Stall(deadlines, unsent, error => void cuts.push(error.code))
  return { cuts, pass, stall }
}

test('one part that nobody takes is cut after one turn', () => {
  const { cuts, pass, stall } = stalled(() => PART)
  stall.start()
  expect(pass()).toBe(true)
  expect(cuts).toEqual(['send-timeout'])
  expect(pass()).toBe(false)
})

test('a larger write has a turn for each part, and no more', () => {
  const { cuts, pass, stall } = stalled(() => 3 * PART)
  stall.start()
  for (let i = 0; i < 2; i++) {
    pass()
    expect(cuts).toEqual([])
  }
  pass()
  expect(cuts).toEqual(['send-timeout'])
})

test('what has been taken shortens the turns that are left', () => {
  let unsent = 10 * PART
  const { cuts, pass, stall } = stalled(() => unsent)
  stall.start()
  pass()
  unsent = PART
  pass()
  expect(cuts).toEqual([])
  pass()
  expect(cuts).toEqual(['send-timeout'])
})

test('ends by itself when all has been taken', () => {
  let unsent = PART
  const { cuts, pass, stall } = stalled(() => unsent)
  stall.start()
  unsent = 0
  pass()
  expect([pass(), cuts]).toEqual([false, []])
})

test('does not count while it is another answer that is being sent', () => {
  let unsent: number | null = null
  const { cuts, pass, stall } = stalled(() => unsent)
  stall.start()
  for (let i = 0; i < 5; i++) pass()
  unsent = PART
  pass()
  expect(cuts).toEqual([])
  pass()
  expect(cuts).toEqual(['send-timeout'])
})

test('starts once, and can be stopped', () => {
  const { cuts, pass, stall } = stalled(() => PART)
  stall.start()
  stall.start()
  stall.stop()
  expect([pass(), cuts]).toEqual([false, []])
})
