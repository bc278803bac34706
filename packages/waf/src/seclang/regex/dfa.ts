/**
 * A lazy deterministic automaton: states are made when a value first needs them, and kept within a bound.
 *
 * Each byte costs one table look-up. Conditions on what follows (`$`, `\b`) are settled one byte late, so that a
 * transition knows both neighbours. Time is linear in the value for every pattern and every input; when inputs make too
 * many states, the cache is dropped and filled anew.
 */
import { OP_ASSERT, OP_MATCH, OP_SET, type Program } from './program.ts'
import { EDGE, NEWLINE, OTHER, Threads, UNKNOWN, WORD_CHARACTER } from './threads.ts'

/** Bytes of transition tables that one automaton keeps. */
const MAX_TABLE = 1 << 21
/** Transition not worked out yet. */
const MISSING = -1
/** The state without threads. */
const DEAD = 0

/** How a search goes. */
export interface DfaMode {
  /** Start a match at each place, not only at the first. */
  readonly search: boolean
  /** Keep less preferred ways after a match, to find the longest. */
  readonly longest: boolean
}

interface State {
  readonly threads: Int32Array
  /** What stands before the place. */
  readonly before: number
  /** Whether a match may still start later: the least preferred way. */
  readonly searching: boolean
}

export class Dfa {
  readonly #program: Program
  readonly #mode: DfaMode
  readonly #width: number
  readonly #limit: number
  readonly #settled: Threads
  readonly #stepped: Threads
  readonly #startStates: Int32Array
  readonly #classOf: Uint8Array
  #states: State[] = []
  #numbers = new Map<string, number>()
  /** At `state * width + class`: the next state's row times two, plus one when a match ends before the byte. Last class: the end. */
  #table: Int32Array

  /** Whether a match can start behind the first byte at all: not when the pattern begins with `^`. */
  readonly #startsLater: boolean

  constructor(program: Program, mode: DfaMode) {
    this.#program = program
    this.#mode = mode
    this.#width = program.classes + 1
    this.#limit = Math.max(16, Math.floor(MAX_TABLE / 4 / this.#width))
    this.#settled = new Threads(program)
    this.#stepped = new Threads(program)
    this.#startStates = new Int32Array(4)
    this.#classOf = program.classOf
    this.#table = new Int32Array(8 * this.#width)
    this.#stepped.add(program.start, NEWLINE, UNKNOWN, false)
    this.#startsLater = this.#stepped.size > 0
    this.#reset()
  }

  /** Whether the pattern matches anywhere. */
  test(value: Uint8Array): boolean {
    const classOf = this.#classOf
    const { length } = value
    let table = this.#table
    let row = this.#startState(EDGE) * this.#width
    for (let i = 0; i < length; i++) {
      let move = table[row + classOf[value[i]!]!]!
      if (move < 2) {
        if (move === MISSING) {
          move = this.#move(row / this.#width, classOf[value[i]!]!)
          table = this.#table
        }
        if (move === DEAD) return false
      }
      if (move & 1) return true
      row = move >> 1
    }
    return (this.#transition(row / this.#width, this.#program.classes) & 1) === 1
  }

  /** Where the preferred match ends, reading from `from`; -1 without a match. */
  end(value: Uint8Array, from: number): number {
    let state = this.#startState(from === 0 ? EDGE : this.#kind(value[from - 1]!))
    let found = -1
    for (let i = from; i < value.length; i++) {
      const move = this.#transition(state, this.#classOf[value[i]!]!)
      if (move & 1) found = i
      state = (move >> 1) / this.#width
      if (state === DEAD) return found
    }
    return this.#transition(state, this.#program.classes) & 1 ? value.length : found
  }

  /** Reading backwards from `end`: where the longest match starts; -1 without a match. The program must be backwards. */
  start(value: Uint8Array, end: number): number {
    let state = this.#startState(end === value.length ? EDGE : this.#kind(value[end]!))
    let found = -1
    for (let i = end - 1; i >= 0; i--) {
      const move = this.#transition(state, this.#classOf[value[i]!]!)
      if (move & 1) found = i + 1
      state = (move >> 1) / this.#width
      if (state === DEAD) return found
    }
    return this.#transition(state, this.#program.classes) & 1 ? 0 : found
  }

  /** Whether a match can only start at the first byte. */
  get anchored(): boolean {
    return !this.#startsLater
  }

  /** States made so far; for tests and reports. */
  get size(): number {
    return this.#states.length
  }

  #kind(code: number): number {
    const byteClass = this.#classOf[code]!
    if (this.#program.wordClass[byteClass] === 1) return WORD_CHARACTER
    return this.#program.newlineClass[byteClass] === 1 ? NEWLINE : OTHER
  }

  #reset(): void {
    this.#states = [{ threads: new Int32Array(0), before: OTHER, searching: false }]
    this.#numbers = new Map()
    this.#table.fill(MISSING)
    this.#table.fill(DEAD, 0, this.#width)
    this.#startStates.fill(MISSING)
  }

  #startState(before: number): number {
    const known = this.#startStates[before]!
    if (known !== MISSING) return known
    const threads = this.#stepped
    threads.clear()
    threads.add(this.#program.start, before, UNKNOWN, !this.#mode.longest)
    const state = this.#intern(
      threads,
      before,
      this.#mode.search && !(threads.matched && !this.#mode.longest),
    )
    this.#startStates[before] = state
    return state
  }

  #transition(state: number, byteClass: number): number {
    const known = this.#table[state * this.#width + byteClass]!
    return known === MISSING ? this.#move(state, byteClass) : known
  }

  /** Works a transition out. May drop the cache: the state that it gives is valid, the one it was given is not then. */
  #move(from: number, byteClass: number): number {
    const { threads, before, searching } = this.#states[from]!
    const { op, next, arg, classes, member, wordClass, newlineClass, looksAhead } = this.#program
    const atEnd = byteClass === classes
    const after = atEnd
      ? EDGE
      : wordClass[byteClass]
        ? WORD_CHARACTER
        : newlineClass[byteClass]
          ? NEWLINE
          : OTHER
    const cut = !this.#mode.longest

    // Conditions that waited for the next byte are decided now.
    let list = threads
    let count = threads.length
    let matched = false
    if (looksAhead) {
      const settled = this.#settled
      settled.clear()
      for (let i = 0; i < threads.length && !(cut && settled.matched); i++) {
        settled.add(threads[i]!, before, after, cut)
      }
      list = settled.list
      count = settled.size
    }
    const stepped = this.#stepped
    stepped.clear()
    for (let i = 0; i < count; i++) {
      const at = list[i]!
      if (op[at] === OP_MATCH) {
        matched = true
        if (cut) break
      } else if (!atEnd && op[at] === OP_SET && member[arg[at]! * classes + byteClass] === 1) {
        if (!(cut && stepped.matched)) stepped.add(next[at]!, after, UNKNOWN, cut)
      }
    }
    // A new match may start here, less preferred than all that run, and not after one was found.
    const more = searching && !atEnd && !(cut && (matched || stepped.matched))
    if (more) stepped.add(this.#program.start, after, UNKNOWN, cut)
    const dropped = this.#states.length >= this.#limit
    if (dropped) this.#reset()
    const state = atEnd ? DEAD : this.#intern(stepped, after, more && !(cut && stepped.matched))
    const move = state * this.#width * 2 + (matched ? 1 : 0)
    if (!dropped) this.#table[from * this.#width + byteClass] = move
    return move
  }

  #intern(threads: Threads, before: number, searching: boolean): number {
    if (threads.size === 0 && !(searching && this.#startsLater)) return DEAD
    const list = threads.list.slice(0, threads.size)
    // What stands before matters only to conditions that wait.
    const waits = this.#program.looksAhead && list.some(at => this.#program.op[at] === OP_ASSERT)
    const context = waits ? before : OTHER
    const key = `${searching ? context : -context - 1},${list.join()}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#states.length
    this.#states.push({ threads: list, before: context, searching })
    this.#numbers.set(key, number)
    if ((number + 1) * this.#width > this.#table.length) {
      const larger = new Int32Array(Math.min(this.#table.length * 2, (this.#limit + 1) * this.#width))
      larger.fill(MISSING, this.#table.length)
      larger.set(this.#table)
      this.#table = larger
    }
    return number
  }
}
