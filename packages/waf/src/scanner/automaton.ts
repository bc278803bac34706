/**
 * A dense automaton over bytes: one table look-up a byte, whatever the number of words, and no way back.
 *
 * The library `ahocorasick` builds trie and failure links; here they are flattened. Bytes that no word tells
 * apart share a column, and upper case shares one with lower. States are numbered so that those in which a
 * word ends come last: the inner loop has one comparison.
 */
import AhoCorasick from 'ahocorasick'

/** The flattened automaton. All of it is read-only after {@link compileAutomaton}. */
export interface Automaton {
  /** Column of each byte. */
  readonly columns: Uint8Array
  /** Next state: `next[(state << shift) | column]`. State 0 is the start. */
  readonly next: Uint16Array
  readonly shift: number
  /** The first state in which a word ends; all later ones end one too. */
  readonly firstEnd: number
  /** `words[starts[state - firstEnd]]` up to the next start: indices of the words that end in a state. */
  readonly starts: Uint32Array
  readonly words: Uint32Array
  /** Length of each word. */
  readonly lengths: Uint16Array
  readonly states: number
}

const MAX_STATES = 65_535

/**
 * Compiles words of one-byte characters. Matching ignores the case of ASCII letters.
 *
 * Memory: two bytes for each state and column. States are at most the sum of the words' lengths and one, columns
 * the next power of two above the number of different bytes in them.
 * @throws RangeError for an empty word, one with characters above 0xff, or more than 65,535 states.
 */
export function compileAutomaton(words: readonly string[]): Automaton {
  const folded = words.map(fold)
  const indices = new Map<string, number[]>()
  folded.forEach((word, index) => {
    const same = indices.get(word)
    if (same === undefined) indices.set(word, [index])
    else same.push(index)
  })
  const trie = new AhoCorasick([...indices.keys()])
  const order = statesInOrder(trie)
  if (order.length > MAX_STATES) throw new RangeError(`${order.length} states; at most ${MAX_STATES} fit`)

  const { columns, count } = columnsOf(folded)
  let shift = 0
  while (1 << shift < count) shift += 1

  // Numbers: states without an ending word first, in breadth order, then those with one.
  const endsOf = (state: number): readonly string[] => (state === 0 ? [] : trie.output[state]!)
  const silent = order.filter(state => endsOf(state).length === 0)
  const ending = order.filter(state => endsOf(state).length > 0)
  const number = new Uint32Array(order.length)
  silent.concat(ending).forEach((state, index) => {
    number[state] = index
  })

  const next = new Uint16Array(order.length << shift)
  for (const state of order) {
    const row = number[state]! << shift
    if (state !== 0) {
      // A failure link points to a shorter prefix, whose row is complete: breadth order.
      const fallback = number[trie.failure[state]!]! << shift
      next.copyWithin(row, fallback, fallback + (1 << shift))
    }
    for (const [character, target] of Object.entries(trie.gotoFn[state]!)) {
      next[row + columns[character.charCodeAt(0)]!] = number[target]!
    }
  }

  const starts = new Uint32Array(ending.length + 1)
  const list: number[] = []
  ending.forEach((state, index) => {
    for (const word of endsOf(state)) list.push(...indices.get(word)!)
    starts[index + 1] = list.length
  })
  return {
    columns,
    next,
    shift,
    firstEnd: silent.length,
    starts,
    words: Uint32Array.from(list),
    lengths: Uint16Array.from(folded, word => word.length),
    states: order.length,
  }
}

/** Lower case for ASCII letters only. */
function fold(word: string): string {
  if (word.length === 0) throw new RangeError('an empty word matches everywhere')
  let folded = ''
  for (let i = 0; i < word.length; i += 1) {
    const code = word.charCodeAt(i)
    if (code > 0xff) throw new RangeError(`'${word}' has a character that is no single byte`)
    folded += String.fromCharCode(code >= 65 && code <= 90 ? code + 32 : code)
  }
  return folded
}

/** Breadth first, so that a failure link always points to an earlier state. */
function statesInOrder(trie: AhoCorasick): number[] {
  const order = [0]
  for (let i = 0; i < order.length; i += 1) {
    for (const target of Object.values(trie.gotoFn[order[i]!]!)) order.push(target)
  }
  return order
}

/** Column 0 is for every byte that no word has. */
function columnsOf(words: readonly string[]): { columns: Uint8Array; count: number } {
  const columns = new Uint8Array(256)
  let count = 1
  for (const word of words) {
    for (let i = 0; i < word.length; i += 1) {
      const code = word.charCodeAt(i)
      if (columns[code] === 0) columns[code] = count++
    }
  }
  for (let code = 65; code <= 90; code += 1) columns[code] = columns[code + 32]!
  return { columns, count }
}
