/** Long inputs that are meant to be slow, and requests that hold one of them. */
import { readFileSync } from 'node:fs'

/** Fragments that come close to a match of many patterns again and again. */
const FRAGMENTS = [
  ...[
    '\n',
    '\r\n',
    '\t,n/29',
    '\t',
    ' ',
    "'",
    '"',
    '`',
    '<',
    '>',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '\\',
    '/',
    '.',
  ],
  ...[
    '@',
    '=',
    ';',
    ':',
    ',',
    '|',
    '&',
    '$',
    '%',
    '#',
    '*',
    '-',
    '+',
    '~',
    '!',
    '?',
    '^',
    '_',
    '0',
    '1',
    'a',
    'A',
    '\0',
  ],
  ...[
    '../',
    '..;/',
    '{{',
    '<a ',
    '<script',
    '<!--',
    '/*',
    '*/',
    '/**/',
    '--',
    '0x',
    '%25',
    '%u0041',
    '&#x41;',
    '&amp;',
  ],
  ...[
    '\\x41',
    '\\u0041',
    '\\41 ',
    '\xc3\xa9',
    '\xff',
    'union ',
    'select ',
    "' or ",
    'or 1=1 ',
    'and 1 ',
    'sleep(',
    'concat(',
  ],
  ...[
    '$(',
    '${',
    '`ls',
    '; ls',
    '| id',
    'cat /etc',
    'wget ',
    'bash -c ',
    'system(',
    'eval(',
    'php://',
    'http://',
    'unix:',
  ],
  ...[
    'onload=',
    'src=',
    'javascript:',
    'document.',
    'require(',
    '#{',
    '<%',
    '%{',
    'java.',
    '${jndi:',
    'base64 ',
    'YWJj',
  ],
  ...[
    'AND ',
    'a b ',
    'a=b&',
    'a,b;',
    '1.',
    '1-',
    'x y=z ',
    'Set-Cookie:',
    'HTTP/1.1 ',
    'a/b/../',
    'file://',
    'C:0:"C',
  ],
]

/** Texts of `size` bytes: each fragment over and over, those behind a beginning, and all of them mixed. */
export function builtIn(size) {
  const texts = FRAGMENTS.map(fragment => [JSON.stringify(fragment), pump('', fragment, size)])
  texts.push(
    ['bytes= and tabs', pump('bytes=', '\t', size)],
    ['all fragments', pump('', FRAGMENTS.join(''), size)],
  )
  return texts
}

/** Texts made of the words and marks of each pattern in the rule files: what looks like a match, over and over. */
export function fromRules(files, size) {
  const texts = []
  for (const file of files) {
    for (const [, pattern] of readFileSync(file, 'latin1').matchAll(/"!?@(?:rx|pm) ((?:[^"\\]|\\.)*)"/gs)) {
      const parts = pattern.replace(/\\x([0-9a-f]{2})/gi, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      const plain = parts
        .replace(/\\[sdwbSDWB]/g, ' ')
        .replace(/[\\^$?*+|()[\]]/g, ' ')
        .split(/\s+/)
        .filter(Boolean)
      if (plain.length > 0)
        texts.push([`pattern ${pattern.slice(0, 30)}`, pump('', `${plain.slice(0, 40).join(' ')} `, size)])
      if (plain.length > 0) texts.push([`begin ${pattern.slice(0, 30)}`, pump('', plain[0], size)])
    }
  }
  return texts
}

/** Texts of a file that names one a line: rule, kind and strings in JavaScript's notation, joined by `+`, with `.repeat(n)`. */
export function fromFile(file, size) {
  const texts = []
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const [rule, , written] = line.split('\t')
    const pieces = [...written.matchAll(/'((?:[^'\\]|\\.)*)'(?:\.repeat\((\d+)\))?/g)]
    const text = pieces.map(([, piece, times]) => unescaped(piece).repeat(Number(times ?? 1))).join('')
    texts.push([`rule ${rule}`, text.length >= size ? text.slice(0, size) : text])
  }
  return texts
}

function unescaped(piece) {
  const named = { n: '\n', r: '\r', t: '\t', v: '\v', f: '\f', b: '\b', 0: '\0' }
  return piece.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))/gi, (_, two, four, one) =>
    one === undefined ? String.fromCharCode(Number.parseInt(two ?? four, 16) & 0xff) : (named[one] ?? one),
  )
}

function pump(begin, fragment, size) {
  return (begin + fragment.repeat(Math.ceil(size / fragment.length))).slice(0, size)
}

const escaped = text =>
  text.replace(/[^A-Za-z0-9._~-]/g, byte => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
const bytes = text => Buffer.from(text, 'latin1')

/** As much of a text as fits into its own length once it is escaped: the limit is one of bytes on the wire. */
function fitting(text) {
  const whole = escaped(text)
  if (whole.length === text.length) return whole
  return whole.slice(0, text.length).replace(/%.?$/, '')
}

/** Requests that hold a text, by the place where it stands. */
export const PLACES = {
  query: text => of('GET', `/?a=${fitting(text)}`),
  'query, name': text => of('GET', `/?${fitting(text)}=1`),
  path: text => of('GET', `/${fitting(text)}`),
  header: text => of('GET', '/', [['X-Note', text]]),
  'User-Agent': text => of('GET', '/', [['User-Agent', text]]),
  cookie: text => of('GET', '/', [['Cookie', `a=${text}`]]),
  body: text =>
    of('POST', '/', [['Content-Type', 'application/x-www-form-urlencoded']], bytes(`a=${fitting(text)}`)),
  JSON: text => of('POST', '/', [['Content-Type', 'application/json']], bytes(json(text))),
  multipart: text =>
    of(
      'POST',
      '/',
      [['Content-Type', 'multipart/form-data; boundary=x']],
      bytes(`--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n--x--\r\n`),
    ),
  'file name': text =>
    of(
      'POST',
      '/',
      [['Content-Type', 'multipart/form-data; boundary=x']],
      bytes(
        `--x\r\nContent-Disposition: form-data; name="a"; filename="${text.replace(/["\r\n]/g, '')}"\r\n\r\nb\r\n--x--\r\n`,
      ),
    ),
  XML: text =>
    of('POST', '/', [['Content-Type', 'text/xml']], bytes(`<a b="c">${text.replace(/[<&]/g, ' ')}</a>`)),
}

/** A JSON string whose escapes count. */
function json(text) {
  let kept = text
  while (JSON.stringify(kept).length > text.length + 2)
    kept = kept.slice(0, Math.floor((kept.length * text.length) / JSON.stringify(kept).length))
  return `{"a":${JSON.stringify(kept)}}`
}

/** @param {Buffer | null} body */
function of(method, target, headers = [], body = null) {
  const all = [['Host', 'shop.example'], ['Accept', '*/*'], ['User-Agent', 'bench'], ...headers]
  if (body !== null) all.push(['Content-Length', String(body.length)])
  return { method, target, headers: all, body }
}
