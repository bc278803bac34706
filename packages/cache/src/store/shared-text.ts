/**
 * One copy of what many responses say: field names, and values like `text/html` or the date of this second.
 *
 * A million entries that each had their own strings would take a third more memory, and the garbage collector would visit
 * each of them. Bounded: when it is full, it begins anew.
 */

const MOST = 4096
const LONGEST = 64
const known = new Map<string, string>()

/** The same text; the same object as long as it is remembered. */
export function shared(text: string): string {
  if (text.length > LONGEST) return text
  const one = known.get(text)
  if (one !== undefined) return one
  if (known.size >= MOST) known.clear()
  known.set(text, text)
  return text
}
