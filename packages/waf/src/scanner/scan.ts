/** The scan: one step a byte, over bytes or one-byte strings, whole or in chunks. */
import type { Automaton } from './automaton.ts'

/** Called for each word that ends: its index, and the offset just behind it. */
export type OnWord = (word: number, end: number) => void

/** A scan that may be fed in chunks, cut anywhere. Offsets count from the first byte of the first chunk. */
export interface Scan {
  /** Takes bytes, or a string with one character a byte. Characters above 0xff are no part of any word. */
  feed(chunk: Uint8Array | string): void
  /** Starts anew. */
  reset(): void
}

/** Makes a scan over an automaton. It holds a state number and an offset, nothing of what it has read. */
export function scanner(automaton: Automaton, onWord: OnWord): Scan {
  const { columns, next, shift, firstEnd, starts, words } = automaton
  let state = 0
  let offset = 0

  function report(end: number): void {
    const from = starts[state - firstEnd]!
    const to = starts[state - firstEnd + 1]!
    for (let i = from; i < to; i += 1) onWord(words[i]!, end)
  }

  function feed(chunk: Uint8Array | string): void {
    if (typeof chunk === 'string') {
      for (let i = 0; i < chunk.length; i += 1) {
        const code = chunk.charCodeAt(i)
        state = code > 0xff ? 0 : next[(state << shift) | columns[code]!]!
        if (state >= firstEnd) report(offset + i + 1)
      }
    } else {
      for (let i = 0; i < chunk.length; i += 1) {
        state = next[(state << shift) | columns[chunk[i]!]!]!
        if (state >= firstEnd) report(offset + i + 1)
      }
    }
    offset += chunk.length
  }

  return {
    feed,
    reset() {
      state = 0
      offset = 0
    },
  }
}
