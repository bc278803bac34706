/** Bytes that are no text: images, archives, documents. */
import type { Trail } from './place.ts'
import type { Emit } from './types.ts'

/** Shortest run of printable ASCII that is looked at: chance makes one of 16 in ten million bytes. */
const LEAST_RUN = 16

/** First bytes by media type, one character a byte. */
const MAGIC: readonly (readonly [string, readonly string[]])[] = [
  ['image/png', ['\x89PNG\r\n\x1a\n']],
  ['image/jpeg', ['\xff\xd8\xff']],
  ['image/gif', ['GIF87a', 'GIF89a']],
  ['image/webp', ['RIFF']],
  ['application/pdf', ['%PDF-']],
  ['application/zip', ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08']],
  ['application/gzip', ['\x1f\x8b']],
  ['application/x-gzip', ['\x1f\x8b']],
]

/** False when the type says how its files begin and this one begins otherwise. */
export function fitsType(essence: string, text: string): boolean {
  const entry = MAGIC.find(([type]) => type === essence)
  return entry === undefined || entry[1].some(magic => text.startsWith(magic))
}

/** True for text with bytes that no text has, within the first 4096. */
export function isBinary(text: string): boolean {
  const end = Math.min(text.length, 4096)
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d && code !== 0x0c && code !== 0x1b)
      return true
  }
  return false
}

/**
 * Text in UTF-16 of either order, as the bytes that are not null; `null` for anything else. Only the ASCII in it comes out
 * right, and that is what patterns look for.
 */
function fromUtf16(text: string): string | null {
  const marked = text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff')
  const end = Math.min(text.length, 256)
  let nulls = 0
  for (let i = 0; i < end; i++) if (text.charCodeAt(i) === 0) nulls++
  // Half of the bytes in Latin script, fewer in a mixed text.
  return nulls * 3 > end || (marked && nulls > 0) ? text.replaceAll('\0', '') : null
}

/** Emits text as it is, and of anything else the runs of printable ASCII: a script within an image is still found. */
export function readOpaque(text: string, trail: Trail, emit: Emit): void {
  if (text === '') return
  if (!isBinary(text)) return emit(trail, text, 'text')
  const narrow = fromUtf16(text)
  if (narrow !== null) return emit(trail, narrow, 'text')
  let from = -1
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 0
    const printable = (code >= 0x20 && code < 0x7f) || code === 0x09 || code === 0x0a || code === 0x0d
    if (printable) {
      if (from === -1) from = i
    } else if (from !== -1) {
      if (i - from >= LEAST_RUN) emit(trail, text.slice(from, i), 'text')
      from = -1
    }
  }
}
