/**
 * Says which patterns can match a value at all, in one pass over it.
 *
 * Each pattern hands in sets of literals; it can only match a value that holds one literal of each set. All literals of
 * all patterns are found at once. Single bytes are looked up in a table of the bytes that occurred.
 */
import { type Automaton, compileAutomaton } from '../../scanner/automaton.ts'
import type { LiteralSet } from '../regex/literals.ts'

/** Which patterns may match the value that was scanned last. */
export interface Candidates {
  /** False: the pattern with this number can not match. */
  may(pattern: number): boolean
}

/** The scanner for a list of patterns. Not reentrant: one scan's answer holds until the next. */
export class Prefilter implements Candidates {
  readonly #automaton: Automaton | null
  /** For each ending state, the sets that its words belong to. */
  readonly #setsOf: readonly Uint32Array[]
  /** Sets by single byte. */
  readonly #setsOfByte: readonly (Uint32Array | null)[]
  readonly #bytesUsed: Uint8Array
  /** Sets of each pattern: `#sets[#first[pattern]]` up to the next. */
  readonly #first: Uint32Array
  /** Round in which a set was met last. */
  readonly #met: Uint32Array
  readonly #statesSeen: Uint32Array
  readonly #byteSeen: Uint32Array
  #round = 0

  /** @param patterns for each pattern its sets; none for a pattern that any value may match. */
  constructor(patterns: readonly (readonly LiteralSet[])[]) {
    const words = new Map<string, number[]>()
    const bytes = new Map<number, number[]>()
    let set = 0
    this.#first = new Uint32Array(patterns.length + 1)
    for (const [index, sets] of patterns.entries()) {
      this.#first[index] = set
      for (const literals of sets) {
        for (const literal of literals) {
          if (literal.length === 1) {
            for (const byte of bothCases(literal.charCodeAt(0))) push(bytes, byte, set)
          } else push(words, literal, set)
        }
        set += 1
      }
    }
    this.#first[patterns.length] = set
    this.#met = new Uint32Array(set)
    const list = [...words.keys()]
    this.#automaton = list.length === 0 ? null : compileAutomaton(list)
    this.#setsOf = this.#automaton === null ? [] : setsOfStates(this.#automaton, [...words.values()])
    this.#statesSeen = new Uint32Array(this.#setsOf.length)
    this.#setsOfByte = Array.from({ length: 256 }, (_, byte) => {
      const found = bytes.get(byte)
      return found === undefined ? null : Uint32Array.from(found)
    })
    this.#bytesUsed = Uint8Array.from(this.#setsOfByte, sets => (sets === null ? 0 : 1))
    this.#byteSeen = new Uint32Array(256)
  }

  /** Reads a value; {@link may} answers for it from then on. */
  scan(value: Uint8Array): void {
    this.#round += 1
    if (this.#round === 0xffffffff) this.#forget()
    const round = this.#round
    const byteSeen = this.#byteSeen
    const bytesUsed = this.#bytesUsed
    const automaton = this.#automaton
    if (automaton === null) {
      for (let i = 0; i < value.length; i++) this.#byte(value[i]!, round)
      return
    }
    const { columns, next, shift, firstEnd } = automaton
    let state = 0
    for (let i = 0; i < value.length; i++) {
      const byte = value[i]!
      if (bytesUsed[byte] === 1 && byteSeen[byte] !== round) this.#byte(byte, round)
      state = next[(state << shift) | columns[byte]!]!
      if (state >= firstEnd && this.#statesSeen[state - firstEnd] !== round) {
        this.#statesSeen[state - firstEnd] = round
        this.#meet(this.#setsOf[state - firstEnd]!, round)
      }
    }
  }

  may(pattern: number): boolean {
    const end = this.#first[pattern + 1]!
    for (let set = this.#first[pattern]!; set < end; set++) if (this.#met[set] !== this.#round) return false
    return true
  }

  /** Literals and states; for reports. */
  get size(): { sets: number; states: number; bytes: number } {
    const automaton = this.#automaton
    return { sets: this.#met.length, states: automaton?.states ?? 0, bytes: automaton?.next.byteLength ?? 0 }
  }

  #byte(byte: number, round: number): void {
    this.#byteSeen[byte] = round
    const sets = this.#setsOfByte[byte]
    if (sets) this.#meet(sets, round)
  }

  #meet(sets: Uint32Array, round: number): void {
    for (let i = 0; i < sets.length; i++) this.#met[sets[i]!] = round
  }

  #forget(): void {
    this.#round = 1
    this.#met.fill(0)
    this.#statesSeen.fill(0)
    this.#byteSeen.fill(0)
  }
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
