/**
 * The machine that tries a sequence of tokens at a place. It goes through the program once: no token is tried again with fewer
 * bytes, so the time for a place is bounded.
 *
 * Searches (`within`) are bounded in another way as well. Whether a token stands at a place depends on the text alone, so what
 * one search has found out holds for all others in the same text. Each remembers the places it has tried: however many hits look
 * over the same bytes, each place is tried once, and the cost stays in proportion to the text.
 */
import { isWord } from '../normalise/bytes.ts'
import { LOWER } from './bytes.ts'
import { BORDER } from './first.ts'
import {
  ANY,
  BORDER_HERE,
  EDGE,
  END,
  LITERAL,
  MAYBE,
  NOT,
  ODD,
  type Program,
  RUN,
  WITHIN,
} from './program.ts'

/** Tries sequences of a program. Keeps what searches have found out about the text at hand. */
export interface Machine {
  /** Another text: what is remembered is void. */
  next(): void
  /** Tries the sequence at `start` behind `at`: the place behind what it takes, or -1. */
  after(start: number, bytes: Uint8Array, at: number, length: number): number
  /** Tries the sequence at `start` in front of `at`: the place where it begins, or -1. */
  before(start: number, bytes: Uint8Array, at: number, length: number): number
}

/** What stands at the end of the places that were tried in vain. */
const UNKNOWN = -2
const STOP = -1

export function machine({ code, pool, sets, tables, memos }: Program): Machine {
  let text = 0
  // Of each search: its text, the places from `low` to `high` where nothing fits and nothing stops, and what is at the end.
  const texts = new Float64Array(memos).fill(-1)
  const low = new Int32Array(memos)
  const high = new Int32Array(memos)
  const event = new Int32Array(memos)

  function after(start: number, bytes: Uint8Array, from: number, length: number): number {
    let pc = start
    let at = from
    for (;;) {
      switch (code[pc]) {
        case END:
          return at
        case LITERAL: {
          const size = code[pc + 2]!
          if (at + size > length) return -1
          const offset = code[pc + 1]!
          for (let i = 0; i < size; i += 1) if (LOWER[bytes[at + i]!] !== pool[offset + i]) return -1
          at += size
          pc += 3
          break
        }
        case RUN: {
          const set = code[pc + 1]!
          const most = at + code[pc + 3]!
          const end = Math.min(most, length)
          const least = at + code[pc + 2]!
          while (at < end && sets[set + bytes[at]!] === 1) at += 1
          if (at < least) return -1
          pc += 4
          break
        }
        case EDGE:
          if (at < length && isWord(bytes[at])) return -1
          pc += 1
          break
        case BORDER_HERE:
          if (at !== length) return -1
          pc += 1
          break
        case ANY: {
          const list = tables[code[pc + 2]! + (at < length ? bytes[at]! : BORDER)]!
          if (list === 0) return -1
          const end = list + code[list]!
          let taken = -1
          for (let i = list + 1; i <= end && taken < 0; i += 1) taken = after(code[i]!, bytes, at, length)
          if (taken < 0) return -1
          at = taken
          pc = code[pc + 1]!
          break
        }
        case MAYBE: {
          const taken = after(pc + 2, bytes, at, length)
          if (taken >= 0) at = taken
          pc = code[pc + 1]!
          break
        }
        case NOT:
          if (after(pc + 2, bytes, at, length) >= 0) return -1
          pc = code[pc + 1]!
          break
        case WITHIN:
          at = searchAfter(pc, bytes, at, length)
          if (at < 0) return -1
          pc = code[pc + 1]!
          break
        default:
          return -1
      }
    }
  }

  function before(start: number, bytes: Uint8Array, from: number, length: number): number {
    let pc = start
    let at = from
    for (;;) {
      switch (code[pc]) {
        case END:
          return at
        case LITERAL: {
          const size = code[pc + 2]!
          const begin = at - size
          if (begin < 0) return -1
          const offset = code[pc + 1]!
          for (let i = 0; i < size; i += 1) if (LOWER[bytes[begin + i]!] !== pool[offset + i]) return -1
          at = begin
          pc += 3
          break
        }
        case RUN: {
          const set = code[pc + 1]!
          const most = at - code[pc + 3]!
          const end = Math.max(most, 0)
          const least = at - code[pc + 2]!
          while (at > end && sets[set + bytes[at - 1]!] === 1) at -= 1
          if (at > least) return -1
          pc += 4
          break
        }
        case EDGE:
          if (at > 0 && isWord(bytes[at - 1])) return -1
          pc += 1
          break
        case BORDER_HERE:
          if (at !== 0) return -1
          pc += 1
          break
        case ODD:
          at = oddQuote(bytes, at, code[pc + 1]!)
          if (at < 0) return -1
          pc += 2
          break
        case ANY: {
          const list = tables[code[pc + 2]! + (at > 0 ? bytes[at - 1]! : BORDER)]!
          if (list === 0) return -1
          const end = list + code[list]!
          let taken = -1
          for (let i = list + 1; i <= end && taken < 0; i += 1) taken = before(code[i]!, bytes, at, length)
          if (taken < 0) return -1
          at = taken
          pc = code[pc + 1]!
          break
        }
        case MAYBE: {
          const taken = before(pc + 2, bytes, at, length)
          if (taken >= 0) at = taken
          pc = code[pc + 1]!
          break
        }
        case NOT:
          if (before(pc + 2, bytes, at, length) >= 0) return -1
          pc = code[pc + 1]!
          break
        case WITHIN:
          at = searchBefore(pc, bytes, at, length)
          if (at < 0) return -1
          pc = code[pc + 1]!
          break
        default:
          return -1
      }
    }
  }

  function searchAfter(pc: number, bytes: Uint8Array, at: number, length: number): number {
    const limit = at + code[pc + 2]!
    const stop = code[pc + 3]!
    const first = code[pc + 4]!
    const memo = code[pc + 5]!
    let place = high[memo]!
    let what = event[memo]!
    if (texts[memo] !== text || at < low[memo]! || at > place) {
      texts[memo] = text
      low[memo] = place = at
      what = UNKNOWN
    }
    while (what === UNKNOWN && place <= limit) {
      const byte = place < length ? bytes[place]! : BORDER
      const taken = sets[first + byte] === 1 ? after(pc + 6, bytes, place, length) : -1
      if (taken >= 0) what = taken
      else if (byte === BORDER || sets[stop + byte] === 1) what = STOP
      else place += 1
    }
    high[memo] = place
    event[memo] = what
    return place <= limit && what >= 0 ? what : -1
  }

  function searchBefore(pc: number, bytes: Uint8Array, at: number, length: number): number {
    const limit = at - code[pc + 2]!
    const stop = code[pc + 3]!
    const first = code[pc + 4]!
    const memo = code[pc + 5]!
    let place = low[memo]!
    let what = event[memo]!
    if (texts[memo] !== text || at < place) {
      texts[memo] = text
      high[memo] = place = at
      what = UNKNOWN
    } else if (at > high[memo]!) {
      // Places between this search and the last one; when nothing is there, what the last one knows.
      const known = high[memo]!
      const [lowest, there] = [place, what]
      place = at
      what = UNKNOWN
      while (what === UNKNOWN && place > known && place >= limit) {
        const byte = bytes[place - 1]!
        const taken = sets[first + byte] === 1 ? before(pc + 6, bytes, place, length) : -1
        if (taken >= 0) what = taken
        else if (sets[stop + byte] === 1) what = STOP
        else place -= 1
      }
      if (what === UNKNOWN && place === known) {
        place = lowest
        what = there
      }
      high[memo] = at
    }
    while (what === UNKNOWN && place >= limit) {
      const byte = place > 0 ? bytes[place - 1]! : BORDER
      const taken = sets[first + byte] === 1 ? before(pc + 6, bytes, place, length) : -1
      if (taken >= 0) what = taken
      else if (byte === BORDER || sets[stop + byte] === 1) what = STOP
      else place -= 1
    }
    low[memo] = place
    event[memo] = what
    return place >= limit && what >= 0 ? what : -1
  }

  return {
    next() {
      text += 1
    },
    after,
    before,
  }
}

/** The quote in front of `at`, when it makes an odd number of its kind within `reach` bytes of its line. */
function oddQuote(bytes: Uint8Array, at: number, reach: number): number {
  const kind = at > 0 ? bytes[at - 1]! : 0
  if (kind !== 0x27 && kind !== 0x22 && kind !== 0x60) return -1
  const first = Math.max(at - reach, 0)
  let count = 0
  for (let i = at - 1; i >= first && bytes[i] !== 0x0a; i -= 1) if (bytes[i] === kind) count += 1
  return count % 2 === 1 ? at - 1 : -1
}
