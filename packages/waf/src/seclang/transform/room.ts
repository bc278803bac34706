/** Room for the bytes of a result: one write for each costs less than joining many short strings. */

const KEPT = 1 << 17
let kept = Buffer.allocUnsafeSlow(4096)

/**
 * Room for `length` bytes, and their text in the end: `room.toString('latin1', 0, used)`. It is shared, so it must be read before
 * anything else asks for room.
 */
export function roomFor(length: number): Buffer {
  if (length <= kept.length) return kept
  const made = Buffer.allocUnsafeSlow(length)
  if (length <= KEPT) kept = made
  return made
}
