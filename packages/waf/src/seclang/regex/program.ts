/** A pattern as instructions for the automata: Thompson's construction, with the order of alternatives kept. */
import { type ByteSet, has, negated, rangeSet, setKey, WORD } from './byte-set.ts'
import { type Assertion, type Node, RegexError } from './syntax.ts'

export const OP_SET = 0
export const OP_SPLIT = 1
export const OP_ASSERT = 2
export const OP_SAVE = 3
export const OP_MATCH = 4

/** Instructions that one pattern may need. Counted repetitions are written out. */
const MAX_INSTRUCTIONS = 60_000

/** Assertion codes. */
export const ASSERTIONS: readonly Assertion[] = ['start', 'end', 'lineStart', 'lineEnd', 'word', 'notWord']

/** Instructions as parallel arrays: no objects to chase. */
export interface Program {
  readonly op: Uint8Array
  /** Next instruction; for a split the preferred one. */
  readonly next: Int32Array
  /** Split: the other way. Set: number of the set. Assertion: its code. Save: the slot. */
  readonly arg: Int32Array
  readonly start: number
  /** Class of each byte: bytes of one class are never told apart. */
  readonly classOf: Uint8Array
  readonly classes: number
  /** For each set and class 1 or 0: `member[set * classes + class]`. */
  readonly member: Uint8Array
  /** For each class: is it a word character, a line feed. */
  readonly wordClass: Uint8Array
  readonly newlineClass: Uint8Array
  /** Whether some condition needs the byte after it to be known. */
  readonly looksAhead: boolean
}

/** Compiles a tree. `backwards`: for reading a value from its end; captures are left out then. */
export function compileProgram(root: Node, backwards = false): Program {
  const builder = new Builder(backwards)
  builder.emit(OP_MATCH, 0, 0)
  const start = builder.node(root, 0)
  return builder.finish(start)
}

class Builder {
  readonly #backwards: boolean
  readonly #op: number[] = []
  readonly #next: number[] = []
  readonly #arg: number[] = []
  readonly #sets: ByteSet[] = []
  readonly #setNumbers = new Map<string, number>()
  #looksAhead = false
  #conditions = false

  constructor(backwards: boolean) {
    this.#backwards = backwards
  }

  emit(op: number, next: number, arg: number): number {
    if (this.#op.length >= MAX_INSTRUCTIONS) {
      throw new RegexError(`pattern needs more than ${MAX_INSTRUCTIONS} instructions`, 0)
    }
    this.#op.push(op)
    this.#next.push(next)
    this.#arg.push(arg)
    return this.#op.length - 1
  }

  /** Emits a tree that goes on at `next`; gives its first instruction. */
  node(node: Node, next: number): number {
    switch (node.kind) {
      case 'set':
        return this.emit(OP_SET, next, this.#setNumber(node.set))
      case 'cat': {
        const { parts } = node
        let entry = next
        // From the end to the start: each part must know where it goes on.
        for (let i = 0; i < parts.length; i++) {
          entry = this.node(this.#backwards ? parts[i]! : parts[parts.length - 1 - i]!, entry)
        }
        return entry
      }
      case 'alt': {
        let entry = this.node(node.parts.at(-1)!, next)
        for (let i = node.parts.length - 2; i >= 0; i--) {
          entry = this.emit(OP_SPLIT, this.node(node.parts[i]!, next), entry)
        }
        return entry
      }
      case 'repeat':
        return this.#repeat(node.part, node.min, node.max, node.greedy, next)
      case 'capture': {
        if (this.#backwards) return this.node(node.part, next)
        const close = this.emit(OP_SAVE, next, node.index * 2 + 1)
        return this.emit(OP_SAVE, this.node(node.part, close), node.index * 2)
      }
      case 'assert':
        return this.#assert(node.what, next)
    }
  }

  #repeat(part: Node, min: number, max: number, greedy: boolean, next: number): number {
    let entry = next
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#split(0, next, greedy)
      this.#setBody(loop, this.node(part, loop), greedy)
      entry = loop
    } else {
      for (let i = min; i < max; i++) entry = this.#split(this.node(part, entry), next, greedy)
    }
    for (let i = 0; i < min; i++) entry = this.node(part, entry)
    return entry
  }

  #split(body: number, exit: number, greedy: boolean): number {
    return greedy ? this.emit(OP_SPLIT, body, exit) : this.emit(OP_SPLIT, exit, body)
  }

  #setBody(split: number, body: number, greedy: boolean): void {
    if (greedy) this.#next[split] = body
    else this.#arg[split] = body
  }

  #assert(what: Assertion, next: number): number {
    const turned = this.#backwards ? BACKWARDS[what] : what
    this.#conditions = true
    if (turned !== 'start' && turned !== 'lineStart') this.#looksAhead = true
    return this.emit(OP_ASSERT, next, ASSERTIONS.indexOf(turned))
  }

  #setNumber(set: ByteSet): number {
    const key = setKey(set)
    const known = this.#setNumbers.get(key)
    if (known !== undefined) return known
    this.#setNumbers.set(key, this.#sets.length)
    this.#sets.push(set)
    return this.#sets.length - 1
  }

  finish(start: number): Program {
    const dividing = this.#conditions ? [...this.#sets, WORD, rangeSet(0x0a, 0x0a)] : this.#sets
    const { classOf, classes } = divide(dividing)
    const member = new Uint8Array(this.#sets.length * classes)
    const wordClass = new Uint8Array(classes)
    const newlineClass = new Uint8Array(classes)
    for (let byte = 255; byte >= 0; byte--) {
      const at = classOf[byte]!
      for (let set = 0; set < this.#sets.length; set++) {
        member[set * classes + at] = has(this.#sets[set]!, byte) ? 1 : 0
      }
      if (this.#conditions) {
        wordClass[at] = has(WORD, byte) ? 1 : 0
        newlineClass[at] = byte === 0x0a ? 1 : 0
      }
    }
    return {
      op: Uint8Array.from(this.#op),
      next: Int32Array.from(this.#next),
      arg: Int32Array.from(this.#arg),
      start,
      classOf,
      classes,
      member,
      wordClass,
      newlineClass,
      looksAhead: this.#looksAhead,
    }
  }
}

const BACKWARDS: Readonly<Record<Assertion, Assertion>> = {
  start: 'end',
  end: 'start',
  lineStart: 'lineEnd',
  lineEnd: 'lineStart',
  word: 'word',
  notWord: 'notWord',
}

/** The coarsest partition of the bytes that no set cuts through. */
function divide(sets: readonly ByteSet[]): { classOf: Uint8Array; classes: number } {
  const classOf = new Uint8Array(256)
  let classes = 1
  for (const set of [...sets, negated(new Uint32Array(8).fill(0xffffffff))]) {
    const renumbered = new Map<number, number>()
    for (let byte = 0; byte < 256; byte++) {
      const key = classOf[byte]! * 2 + (has(set, byte) ? 1 : 0)
      let number = renumbered.get(key)
      if (number === undefined) {
        number = renumbered.size
        renumbered.set(key, number)
      }
      classOf[byte] = number
    }
    classes = renumbered.size
  }
  return { classOf, classes }
}
