/** A 32-bit hash of text that is the same in every process: MurmurHash3 (x86, 32 bits) over UTF-16 units. */

/** Hash of `text`. For spreading only: whoever chooses the text can choose the hash. */
export function hash32(text: string, seed = 0): number {
  let h = seed | 0
  const { length } = text
  for (let i = 0; i < length; i++) {
    // One unit a round instead of four bytes: text is short, and no unit loses its high byte.
    let k = Math.imul(text.charCodeAt(i), 0xcc9e2d51)
    k = (k << 15) | (k >>> 17)
    h ^= Math.imul(k, 0x1b873593)
    h = (h << 13) | (h >>> 19)
    h = (Math.imul(h, 5) + 0xe6546b64) | 0
  }
  return mix32(h ^ length)
}

/** What a target is drawn with. */
export function seedOf(id: string): number {
  return hash32(id, 0x9747b28c)
}

/** The finaliser: each bit of the input changes half of the output's. */
export function mix32(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
