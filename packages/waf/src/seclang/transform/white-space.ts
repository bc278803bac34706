import { isSpace } from './bytes.ts'

/** `removeWhitespace`: no white space and no no-break spaces. */
export function removeWhitespace(value: string): string {
  return value.replace(/[\t-\r \u00a0]+/g, '')
}

/** `compressWhitespace`: each run of white space is one blank. */
export function compressWhitespace(value: string): string {
  return value.replace(/[\t-\r \u0085\u00a0]+/g, ' ')
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
