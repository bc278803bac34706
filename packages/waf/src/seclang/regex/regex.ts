/** Regular expressions over byte strings, in time linear in the value for every pattern and input. */
import { findCaptures } from './captures.ts'
import { Dfa } from './dfa.ts'
import { parseRegex } from './parse.ts'
import { compileProgram, type Program } from './program.ts'
import type { Subject } from './subject.ts'
import type { Node } from './syntax.ts'

/** A match. */
export interface RegexMatch {
  readonly start: number
  readonly end: number
  /** The whole match and its groups; `undefined` for a group that took no part. Worked out when asked. */
  groups(): (string | undefined)[]
}

/** A compiled pattern. Automata are made at first use. */
export class Regex {
  readonly pattern: string
  /** The pattern as a tree. */
  readonly root: Node
  readonly groups: number
  #program: Program | null = null
  #tester: Dfa | null = null
  #finder: Dfa | null = null
  #starter: Dfa | null = null

  /**
   * @param caseless ignore the case of ASCII letters.
   * @throws RegexError for what is no pattern, or one that can't be matched in linear time.
   */
  constructor(pattern: string, caseless = false) {
    const { root, groups } = parseRegex(pattern, caseless)
    this.pattern = pattern
    this.root = root
    this.groups = groups
  }

  /** Whether the pattern matches anywhere in the value. */
  test(value: Subject): boolean {
    this.#tester ??= new Dfa(this.#compiled(), { search: true, longest: true })
    return this.#tester.test(value.bytes)
  }

  /** The first match: leftmost, then the one that a backtracking engine would prefer. */
  exec(value: Subject): RegexMatch | null {
    this.#finder ??= new Dfa(this.#compiled(), { search: true, longest: false })
    const end = this.#finder.end(value.bytes, 0)
    if (end === -1) return null
    const start = this.#finder.anchored ? 0 : this.#startOf(value, end)
    return { start, end, groups: () => this.#groupsOf(value.text, start, end) }
  }

  #startOf(value: Subject, end: number): number {
    this.#starter ??= new Dfa(compileProgram(this.root, true), { search: false, longest: true })
    return this.#starter.start(value.bytes, end)
  }

  #groupsOf(value: string, start: number, end: number): (string | undefined)[] {
    if (this.groups === 0) return [value.slice(start, end)]
    const slots = findCaptures(this.#compiled(), this.groups, value, start, end)
    const found: (string | undefined)[] = []
    for (let i = 0; i < slots.length; i += 2) {
      found.push(slots[i] === -1 || slots[i + 1] === -1 ? undefined : value.slice(slots[i], slots[i + 1]))
    }
    return found
  }

  #compiled(): Program {
    this.#program ??= compileProgram(this.root)
    return this.#program
  }
}
