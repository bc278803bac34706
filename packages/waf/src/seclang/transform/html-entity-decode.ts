import { hexValue } from './bytes.ts'

const NAMED: ReadonlyMap<string, string> = new Map([
  ['quot', '"'],
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['nbsp', '\u00a0'],
  ['apos', "'"],
  ['tab', '\t'],
  ['newline', '\n'],
  ['colon', ':'],
  ['semi', ';'],
  ['comma', ','],
  ['excl', '!'],
  ['num', '#'],
  ['dollar', '$'],
  ['percnt', '%'],
  ['lpar', '('],
  ['rpar', ')'],
  ['ast', '*'],
  ['plus', '+'],
  ['period', '.'],
  ['sol', '/'],
  ['equals', '='],
  ['quest', '?'],
  ['commat', '@'],
  ['lsqb', '['],
  ['lbrack', '['],
  ['bsol', '\\'],
  ['rsqb', ']'],
  ['rbrack', ']'],
  ['hat', '^'],
  ['lowbar', '_'],
  ['grave', '`'],
  ['lcub', '{'],
  ['lbrace', '{'],
  ['verbar', '|'],
  ['vert', '|'],
  ['rcub', '}'],
  ['rbrace', '}'],
])
const LONGEST_NAME = 7
const MAX_DIGITS = 7

/**
 * `htmlEntityDecode`: numeric entities, decimal and hexadecimal, and the names that stand for one ASCII character or a
 * no-break space. The semicolon may be missing, as in browsers. Numbers above 255 keep their low byte.
 */
export function htmlEntityDecode(value: string): string {
  let at = value.indexOf('&')
  if (at === -1) return value
  let out = ''
  let from = 0
  while (at !== -1) {
    const found = value.charCodeAt(at + 1) === 0x23 ? numeric(value, at + 2) : named(value, at + 1)
    if (found === null) {
      at = value.indexOf('&', at + 1)
      continue
    }
    out += value.slice(from, at) + found.text
    from = found.end + (value.charCodeAt(found.end) === 0x3b ? 1 : 0)
    at = value.indexOf('&', from)
  }
  return out + value.slice(from)
}

interface Found {
  readonly text: string
  readonly end: number
}

function numeric(value: string, start: number): Found | null {
  const hex = (value.charCodeAt(start) | 0x20) === 0x78
  let at = hex ? start + 1 : start
  const digits = at
  while (value.charCodeAt(at) === 0x30) at += 1
  const first = at
  let number = 0
  while (at < value.length && at - first < MAX_DIGITS) {
    const digit = hexValue(value.charCodeAt(at))
    if (digit === -1 || (!hex && digit > 9)) break
    number = number * (hex ? 16 : 10) + digit
    at += 1
  }
  return at === digits ? null : { text: String.fromCharCode(number & 0xff), end: at }
}

function named(value: string, start: number): Found | null {
  let end = start
  while (end < value.length && end - start < LONGEST_NAME) {
    const lower = value.charCodeAt(end) | 0x20
    if (lower < 0x61 || lower > 0x7a) break
    end += 1
  }
  const text = NAMED.get(value.slice(start, end).toLowerCase())
  return text === undefined ? null : { text, end }
}
