import type { MultipartFlag } from './body.ts'

/** What `Content-Disposition` of a part says. */
export interface Disposition {
  name: string | null
  filename: string | null
  /** Only `filename*` says that it is a file. */
  extendedOnly: boolean
  /** Why it can't be trusted; `null` when it can. */
  error: string | null
}

/** Reads `form-data; name="a"; filename="b"` (RFC 7578, 4.2). A backslash escapes a quote and itself. */
export function readDisposition(value: string, flag: (flag: MultipartFlag) => void): Disposition {
  const found: Disposition = { name: null, filename: null, extendedOnly: false, error: null }
  const type = /^[\t ]*([^;\t ]*)[\t ]*/.exec(value)!
  if (type[1]!.toLowerCase() !== 'form-data') found.error = 'Content-Disposition is not form-data'
  let at = type[0].length
  while (at < value.length) {
    if (value[at] === ';') at += 1
    else flag('MISSING_SEMICOLON')
    const head = /^[\t ]*([^=;\t "]+)[\t ]*=[\t ]*/.exec(value.slice(at))
    if (!head) {
      if (value.slice(at).trim() !== '') found.error = 'Content-Disposition has a broken parameter'
      break
    }
    at += head[0].length
    const content = quotedValue(value, at, flag)
    at = content.end
    assign(found, head[1]!.toLowerCase(), content.text)
    at += /^[\t ]*/.exec(value.slice(at))![0].length
  }
  return found
}

function assign(found: Disposition, key: string, text: string): void {
  if (key === 'name') {
    if (found.name !== null) found.error = 'Content-Disposition has two names'
    found.name = text
  } else if (key === 'filename') {
    if (found.filename !== null && !found.extendedOnly) found.error = 'Content-Disposition has two file names'
    found.filename = text
    found.extendedOnly = false
  } else if (key === 'filename*') {
    found.extendedOnly = found.filename === null
    found.filename ??= text
  } else found.error = 'Content-Disposition has an unknown parameter'
}

function quotedValue(
  value: string,
  from: number,
  flag: (flag: MultipartFlag) => void,
): { text: string; end: number } {
  const quote = value[from]
  if (quote !== '"' && quote !== "'") {
    const bare = /^[^;]*/.exec(value.slice(from))![0]
    return { text: bare.trimEnd(), end: from + bare.length }
  }
  if (quote === "'") flag('INVALID_QUOTING')
  let text = ''
  for (let at = from + 1; at < value.length; at++) {
    const letter = value[at]!
    if (letter === '\\' && (value[at + 1] === quote || value[at + 1] === '\\')) {
      text += value[at + 1]
      at += 1
    } else if (letter === quote) return { text, end: at + 1 }
    else text += letter
  }
  flag('INVALID_QUOTING')
  return { text, end: value.length }
}
