/** Ordered sets of instructions: what the automata hold between two bytes. */
import { OP_ASSERT, OP_MATCH, OP_SAVE, OP_SET, OP_SPLIT, type Program } from './program.ts'

/** What stands beside a place: nothing (an end of the value), a word character, another one, a line feed. */
export const EDGE = 0
export const WORD_CHARACTER = 1
export const OTHER = 2
export const NEWLINE = 3
/** What stands after the place is not known yet. */
export const UNKNOWN = 4

/** Whether a condition holds between two neighbours; `null` when it depends on an unknown one. */
export function holds(code: number, before: number, after: number): boolean | null {
  switch (code) {
    case 0:
      return before === EDGE
    case 1:
      return after === UNKNOWN ? null : after === EDGE
    case 2:
      return before === EDGE || before === NEWLINE
    case 3:
      return after === UNKNOWN ? null : after === EDGE || after === NEWLINE
    default: {
      if (after === UNKNOWN) return null
      const border = (before === WORD_CHARACTER) !== (after === WORD_CHARACTER)
      return code === 4 ? border : !border
    }
  }
}

/** A set of instructions in the order of preference, with cheap emptying. */
export class Threads {
  /** Instructions that take a byte, match, or wait for a condition. */
  readonly list: Int32Array
  size = 0
  /** True once a match was reached: what comes after it is less preferred and was left out. */
  matched = false
  readonly #program: Program
  readonly #seen: Uint32Array
  readonly #stack: Int32Array
  #round = 1

  constructor(program: Program) {
    const length = program.op.length
    this.#program = program
    this.list = new Int32Array(length)
    this.#seen = new Uint32Array(length)
    this.#stack = new Int32Array(length * 2 + 2)
  }

  clear(): void {
    this.size = 0
    this.matched = false
    this.#round += 1
    if (this.#round === 0xffffffff) {
      this.#seen.fill(0)
      this.#round = 1
    }
  }

  /**
   * Follows everything that takes no byte from `entry`. With `cut` a match ends the set: all that would come later is
   * less preferred.
   */
  add(entry: number, before: number, after: number, cut: boolean): void {
    const { op, next, arg } = this.#program
    const stack = this.#stack
    let depth = 0
    stack[depth++] = entry
    while (depth > 0) {
      if (cut && this.matched) return
      const at = stack[--depth]!
      if (this.#seen[at] === this.#round) continue
      this.#seen[at] = this.#round
      switch (op[at]) {
        case OP_SPLIT:
          stack[depth++] = arg[at]!
          stack[depth++] = next[at]!
          break
        case OP_SAVE:
          stack[depth++] = next[at]!
          break
        case OP_ASSERT: {
          const verdict = holds(arg[at]!, before, after)
          if (verdict === null) this.list[this.size++] = at
          else if (verdict) stack[depth++] = next[at]!
          break
        }
        case OP_MATCH:
          this.matched = true
          this.list[this.size++] = at
          break
        case OP_SET:
          this.list[this.size++] = at
      }
    }
  }
}
