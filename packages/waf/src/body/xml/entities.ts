/** References of XML (REC-xml, 4.1): the five names that need no declaration, and numbers. */
import { writePoint } from '../json/strings.ts'

const NAMED = new Map([
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['amp', 0x26],
  ['quot', 0x22],
  ['apos', 0x27],
])

/** The text with its references undone, one character a byte; `null` when there is one that needs a declaration. */
export function dereferenced(text: string): string | null {
  if (!text.includes('&')) return text
  const bytes = Buffer.allocUnsafe(text.length)
  let size = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== 0x26) {
      bytes[size++] = code
      continue
    }
    // The longest is &#x10FFFF; with some zeros in front.
    const end = text.slice(at, at + 16).indexOf(';')
    if (end === -1) return null
    const point = pointOf(text.slice(at + 1, at + end))
    if (point === -1) return null
    size = writePoint(bytes, size, point)
    at += end
  }
  return bytes.toString('latin1', 0, size)
}

function pointOf(name: string): number {
  const named = NAMED.get(name)
  if (named !== undefined) return named
  const number = /^#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}))$/.exec(name)
  if (number === null) return -1
  const point = number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16)
  return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? point : -1
}
