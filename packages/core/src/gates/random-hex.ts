/** Random ids as hex, from a pool: one call into the system's generator makes many. */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(2048)
let digits = ''
let next = 0

/** Random bytes as lower-case hex, two digits a byte. At most 1024 bytes. */
export function randomHex(bytes: number): string {
  const length = bytes * 2
  if (next + length > digits.length) {
    digits = randomFillSync(pool).toString('hex')
    next = 0
  }
  const made = digits.slice(next, next + length)
  next += length
  return made
}
