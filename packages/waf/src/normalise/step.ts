/**
 * What a normalisation step is.
 *
 * It reads `length` bytes of `from` once, writes to `to` and gives the length written, which is never larger than
 * what it read. `to` may be `from`: a step never writes ahead of where it reads. It keeps nothing between calls.
 */
export type Step = (from: Uint8Array, length: number, to: Uint8Array) => number

/** A step applied to a string with one character a byte: for tests and explanations. */
export function applyStep(step: Step, text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  const length = step(bytes, bytes.length, bytes)
  return bytes.toString('latin1', 0, length)
}
