import { isSpace } from './bytes.ts'
import { roomFor } from './room.ts'

/** `removeWhitespace`: no white space and no no-break spaces. */
export function removeWhitespace(value: string): string {
  const room = roomFor(value.length)
  let used = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (!isSpace(code) && code !== 0xa0) room[used++] = code
  }
  return used === value.length ? value : room.toString('latin1', 0, used)
}

/** `compressWhitespace`: each run of white space is one blank. */
export function compressWhitespace(value: string): string {
  const room = roomFor(value.length)
  let used = 0
  let inRun = false
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    const white = isSpace(code) || code === 0x85 || code === 0xa0
    if (!white) room[used++] = code
    else if (!inRun) room[used++] = 0x20
    inRun = white
  }
  return room.toString('latin1', 0, used)
}

/** `trimLeft`. */
export function trimLeft(value: string): string {
  let start = 0
  while (start < value.length && isSpace(value.charCodeAt(start))) start += 1
  return value.slice(start)
}

/** `trimRight`. */
export function trimRight(value: string): string {
  let end = value.length
  while (end > 0 && isSpace(value.charCodeAt(end - 1))) end -= 1
  return value.slice(0, end)
}

/** `trim`. */
export function trim(value: string): string {
  return trimRight(trimLeft(value))
}
