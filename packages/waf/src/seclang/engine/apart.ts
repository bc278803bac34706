/** Strings that are kept for long. */

/** The shortest string that V8 makes as a view into another one. */
const SHORTEST_SLICE = 13

/** An equal string of bytes that keeps nothing else alive: a slice of a body would hold the whole of it. */
export function apart(text: string): string {
  return text.length < SHORTEST_SLICE ? text : Buffer.from(text, 'latin1').toString('latin1')
}
