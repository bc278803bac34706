/** Shannon entropy: tells packed or encrypted bytes from text of any language. */

import type { Trail } from './place.ts'
import { Refusal } from './refusal.ts'

/** Below this many bytes a count of bytes says little. */
export const LEAST = 256

const counts = new Uint32Array(256)

/** Bits a byte, 0 to 8. With `percent`, each escape counts as the byte that it stands for. */
export function entropyOf(text: string, percent = false): number {
  counts.fill(0)
  let total = 0
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i) & 0xff
    if (percent && code === 0x25) {
      const byte = Number.parseInt(text.slice(i + 1, i + 3), 16)
      if (byte >= 0) {
        code = byte
        i += 2
      }
    }
    counts[code]!++
    total++
  }
  if (total === 0) return 0
  let sum = 0
  for (let i = 0; i < 256; i++) {
    const count = counts[i]!
    if (count > 0) sum += count * Math.log2(count)
  }
  return Math.log2(total) - sum / total
}

/** Bits a byte that `bytes` bytes of pure chance show: a short text cannot show all eight. */
function ofChance(bytes: number): number {
  return 8 - 255 / (2 * Math.LN2 * bytes)
}

/**
 * @throws Refusal when a long text is as good as random. `most` is for long texts; for short ones it is scaled down by
 * what chance itself would show.
 */
export function checkEntropy(text: string, most: number, percent: boolean, rule: string, trail: Trail): void {
  if (text.length <= LEAST || most === Number.POSITIVE_INFINITY || !couldExceed(text, most, percent)) return
  const bits = entropyOf(text, percent)
  const bar = most >= 7 ? Math.min(most, (most * ofChance(text.length)) / 8) : most
  if (bits > bar && !(most < 6.1 && isBase64(text))) {
    throw new Refusal(rule, trail.toString(), `${bits.toFixed(1)} bits a byte: no text`)
  }
}

/** ASCII alone cannot reach seven bits a byte: most values end here, after a look at a few bytes more. */
function couldExceed(text: string, most: number, percent: boolean): boolean {
  if (most < 7) return true
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f || (percent && code === 0x25)) return true
  }
  return false
}

/** Base64 of any flavour, with line breaks. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_\-\s]+={0,2}\s*$/.test(text)
}
