/** Tokens become a program for the machine in machine.ts: numbers in one array, so that nothing is looked up while it runs. */
import { foldCase, setOf } from './bytes.ts'
import { type FirstBytes, firstAfter, firstBefore, SET_SIZE } from './first.ts'
import { isSequence, type Token } from './tokens.ts'

/** Operations; the numbers behind each are its operands. A body ends with END. */
export const END = 0
/** LITERAL offset length: bytes of the pool. */
export const LITERAL = 1
/** RUN set least most */
export const RUN = 2
export const EDGE = 3
export const BORDER_HERE = 4
/** ODD reach */
export const ODD = 5
/** ANY next table: for each first byte, and the border, the place of a list of bodies that may begin so, their number first. */
export const ANY = 6
/** MAYBE next, body */
export const MAYBE = 7
/** NOT next, body */
export const NOT = 8
/** WITHIN next reach stop first memo, body */
export const WITHIN = 9

/** A finished program. */
export interface Program {
  readonly code: Int32Array
  /** Bytes of literals. */
  readonly pool: Uint8Array
  /** Sets of bytes, {@link SET_SIZE} entries each: 1 for a byte, or at the end for the border. */
  readonly sets: Uint8Array
  /** Tables of {@link ANY}, {@link SET_SIZE} entries each. 0: no body may begin so. */
  readonly tables: Int32Array
  /** How many searches it has. */
  readonly memos: number
}

export type Direction = 1 | -1

/** Collects the sequences of many patterns into one program. */
export class Assembler {
  readonly #code: number[] = []
  readonly #pool: number[] = []
  readonly #sets: Uint8Array[] = []
  readonly #offsets = new Map<string, number>()
  readonly #tables: Int32Array[] = []
  readonly #sequences = new Map<string, number>()
  #memos = 0

  /**
   * Adds a sequence, once, and gives where it starts. With direction -1 it is written from left to right and read from right to left.
   * @throws RangeError for a set or a token that makes no sense.
   */
  sequence(tokens: readonly Token[], direction: Direction): number {
    const key = `${direction}${JSON.stringify(tokens)}`
    const known = this.#sequences.get(key)
    if (known !== undefined) return known
    const start = this.#body(tokens, direction)
    this.#sequences.set(key, start)
    return start
  }

  #body(tokens: readonly Token[], direction: Direction): number {
    const start = this.#code.length
    this.#tokens(tokens, direction)
    this.#code.push(END)
    return start
  }

  /** Adds a set, once, and gives its offset. */
  set(set: Uint8Array): number {
    const whole = new Uint8Array(SET_SIZE)
    whole.set(set)
    const key = whole.join('')
    const known = this.#offsets.get(key)
    if (known !== undefined) return known
    const offset = this.#sets.length * SET_SIZE
    this.#sets.push(whole)
    this.#offsets.set(key, offset)
    return offset
  }

  finish(): Program {
    const sets = new Uint8Array(this.#sets.length * SET_SIZE)
    this.#sets.forEach((set, i) => {
      sets.set(set, i * SET_SIZE)
    })
    return {
      code: Int32Array.from(this.#code),
      pool: Uint8Array.from(this.#pool),
      sets,
      tables: Int32Array.from(this.#tables.flatMap(table => [...table])),
      memos: this.#memos,
    }
  }

  #tokens(tokens: readonly Token[], direction: Direction): void {
    const inOrder = direction === 1 ? tokens : [...tokens].reverse()
    for (const token of inOrder) this.#token(token, direction)
  }

  #token(token: Token, direction: Direction): void {
    const code = this.#code
    if (typeof token === 'string') {
      const text = foldCase(token)
      code.push(LITERAL, this.#pool.length, text.length)
      for (let i = 0; i < text.length; i += 1) this.#pool.push(text.charCodeAt(i))
      return
    }
    if (isSequence(token)) return this.#tokens(token, direction)
    switch (token.op) {
      case 'run':
        code.push(RUN, this.set(setOf(token.set)), token.least, token.most)
        return
      case 'edge':
        code.push(EDGE)
        return
      case 'border':
        code.push(BORDER_HERE)
        return
      case 'odd':
        if (direction === 1) throw new RangeError("'odd' can only stand in `before`")
        code.push(ODD, token.bytes)
        return
      case 'maybe':
        return this.#operation([MAYBE], token.of, direction)
      case 'not':
        return this.#operation([NOT], token.of, direction)
      case 'within': {
        const head = [
          WITHIN,
          token.bytes,
          this.set(setOf(token.stop)),
          this.set(firstOf(token.of, direction)),
          this.#memos,
        ]
        this.#memos += 1
        return this.#operation(head, token.of, direction)
      }
      case 'any':
        return this.#any(token.of, direction)
      default:
        throw new RangeError(`'${String((token as { op?: unknown }).op)}' is no token`)
    }
  }

  /** An operation with its operands, the place of the next one put in front of them, and a body. */
  #operation([operation, ...operands]: number[], token: Token, direction: Direction): void {
    const code = this.#code
    const next = code.push(operation!, 0) - 1
    code.push(...operands)
    this.#body([token], direction)
    code[next] = code.length
  }

  #any(tokens: readonly Token[], direction: Direction): void {
    const code = this.#code
    const next = code.push(ANY, 0) - 1
    code.push(this.#tables.length * SET_SIZE)
    const table = new Int32Array(SET_SIZE)
    this.#tables.push(table)
    const firsts = tokens.map(token => firstOf(token, direction))
    const bodies = tokens.map(token => this.#body([token], direction))
    const lists = new Map<string, number>()
    for (let byte = 0; byte < SET_SIZE; byte += 1) {
      const fitting = bodies.filter((_, i) => firsts[i]![byte] === 1)
      if (fitting.length === 0) continue
      const key = fitting.join()
      let list = lists.get(key)
      if (list === undefined) {
        list = code.push(fitting.length, ...fitting) - fitting.length - 1
        lists.set(key, list)
      }
      table[byte] = list
    }
    code[next] = code.length
  }
}

function firstOf(token: Token, direction: Direction): FirstBytes {
  return direction === 1 ? firstAfter([token]) : firstBefore([token])
}
