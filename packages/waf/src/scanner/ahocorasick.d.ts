/** Types of the `ahocorasick` package, which has none: the tables that its constructor fills. */
declare module 'ahocorasick' {
  export default class AhoCorasick {
    constructor(words: readonly string[])
    /** Trie edges: state to character to state. State 0 is the root. */
    readonly gotoFn: Readonly<Record<number, Readonly<Record<string, number>>>>
    /** Where a state falls back to. */
    readonly failure: Readonly<Record<number, number>>
    /** Words that end in a state, those of its suffixes included. */
    readonly output: Readonly<Record<number, readonly string[]>>
    /** Every end of every word: index of its last character, and the words that end there. */
    search(text: string): [number, string[]][]
  }
}
