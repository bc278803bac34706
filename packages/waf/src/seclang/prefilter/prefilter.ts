/**
 * Says which patterns can match a value at all, in one pass over it.
 *
 * Each pattern hands in sets of literals; it can only match a value that holds one literal of each set. All literals of
 * all patterns are found at once. Single bytes are looked up in a table of the bytes that occurred.
 */
import { type Automaton, compileAutomaton } from '../../scanner/automaton.ts'
import type { LiteralSet } from '../regex/literals.ts'

/** The scanner for a list of patterns. */
export class Prefilter {
  readonly #automaton: Automaton | null
  /** For each ending state, the sets that its words belong to. */
  readonly #setsOf: readonly Uint32Array[]
  readonly #setsOfByte: readonly (Uint32Array | null)[]
  readonly #bytesUsed: Uint8Array
  /** The pattern of each set. */
  readonly #patternOf: Uint32Array
  /** Sets of each pattern that must be met. */
  readonly #needed: Uint8Array
  /** Round in which a set, a state or a byte was met last: nothing has to be cleared between values. */
  readonly #setRound: Uint32Array
  readonly #stateRound: Uint32Array
  readonly #byteRound: Uint32Array
  readonly #patternRound: Uint32Array
  readonly #met: Uint8Array
  #round = 0

  /** @param patterns for each pattern its sets of literals; one without sets is never found. */
  constructor(patterns: readonly (readonly LiteralSet[])[]) {
    const words = new Map<string, number[]>()
    const bytes = new Map<number, number[]>()
    const owners: number[] = []
    for (const [pattern, sets] of patterns.entries()) {
      for (const literals of sets) {
        const set = owners.push(pattern) - 1
        for (const literal of literals) {
          if (literal.length > 1) push(words, literal, set)
          else for (const byte of bothCases(literal.charCodeAt(0))) push(bytes, byte, set)
        }
      }
    }
    const list = [...words.keys()]
    this.#automaton = list.length === 0 ? null : compileAutomaton(list)
    this.#setsOf = this.#automaton === null ? [] : setsOfStates(this.#automaton, [...words.values()])
    this.#setsOfByte = Array.from({ length: 256 }, (_, byte) => {
      const found = bytes.get(byte)
      return found === undefined ? null : Uint32Array.from(found)
    })
    this.#bytesUsed = Uint8Array.from(this.#setsOfByte, sets => (sets === null ? 0 : 1))
    this.#patternOf = Uint32Array.from(owners)
    this.#needed = Uint8Array.from(patterns, sets => sets.length)
    this.#setRound = new Uint32Array(owners.length)
    this.#stateRound = new Uint32Array(this.#setsOf.length)
    this.#byteRound = new Uint32Array(256)
    this.#patternRound = new Uint32Array(patterns.length)
    this.#met = new Uint8Array(patterns.length)
  }

  /** Adds the patterns that may match a value to `found`: bit `n` for pattern `n`. */
  scan(value: Uint8Array, found: Uint32Array): void {
    this.#round += 1
    if (this.#round === 0xffffffff) this.#forget()
    const round = this.#round
    const byteRound = this.#byteRound
    const bytesUsed = this.#bytesUsed
    if (this.#automaton === null) {
      for (let i = 0; i < value.length; i++) this.#byte(value[i]!, round, found)
      return
    }
    const { columns, next, shift, firstEnd } = this.#automaton
    let state = 0
    for (let i = 0; i < value.length; i++) {
      const byte = value[i]!
      if (bytesUsed[byte] === 1 && byteRound[byte] !== round) this.#byte(byte, round, found)
      state = next[(state << shift) | columns[byte]!]!
      if (state >= firstEnd && this.#stateRound[state - firstEnd] !== round) {
        this.#stateRound[state - firstEnd] = round
        this.#meet(this.#setsOf[state - firstEnd]!, round, found)
      }
    }
  }

  /** Sets, states and bytes of the table; for reports. */
  get size(): { sets: number; states: number; bytes: number } {
    const automaton = this.#automaton
    return {
      sets: this.#patternOf.length,
      states: automaton?.states ?? 0,
      bytes: automaton?.next.byteLength ?? 0,
    }
  }

  #byte(byte: number, round: number, found: Uint32Array): void {
    this.#byteRound[byte] = round
    const sets = this.#setsOfByte[byte]
    if (sets) this.#meet(sets, round, found)
  }

  #meet(sets: Uint32Array, round: number, found: Uint32Array): void {
    for (let i = 0; i < sets.length; i++) {
      const set = sets[i]!
      if (this.#setRound[set] === round) continue
      this.#setRound[set] = round
      const pattern = this.#patternOf[set]!
      const met = this.#patternRound[pattern] === round ? this.#met[pattern]! + 1 : 1
      this.#patternRound[pattern] = round
      this.#met[pattern] = met
      if (met < this.#needed[pattern]!) continue
      found[pattern >> 5]! |= 1 << (pattern & 31)
    }
  }

  #forget(): void {
    this.#round = 1
    for (const rounds of [this.#setRound, this.#stateRound, this.#byteRound, this.#patternRound])
      rounds.fill(0)
  }
}

/** Whether a pattern is among those that a scan left. */
export function isCandidate(found: Uint32Array, pattern: number): boolean {
  return (found[pattern >> 5]! & (1 << (pattern & 31))) !== 0
}

function push<K>(map: Map<K, number[]>, key: K, value: number): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else if (known.at(-1) !== value) known.push(value)
}

function bothCases(byte: number): number[] {
  return byte >= 0x61 && byte <= 0x7a ? [byte, byte - 32] : [byte]
}

/** The sets of all words that end in a state, each once. */
function setsOfStates(automaton: Automaton, setsOfWord: readonly (readonly number[])[]): Uint32Array[] {
  const found: Uint32Array[] = []
  for (let state = 0; state + 1 < automaton.starts.length; state++) {
    const sets = new Set<number>()
    for (let i = automaton.starts[state]!; i < automaton.starts[state + 1]!; i++) {
      for (const set of setsOfWord[automaton.words[i]!]!) sets.add(set)
    }
    found.push(Uint32Array.from(sets))
  }
  return found
}
