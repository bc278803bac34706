/** Requests for fuzzing: a grammar with what is right, what smugglers send, and mutations. The same for the same seed. */

/** Numbers below `below`, the same for the same seed. */
export function generator(seed) {
  let state = (seed * 2_654_435_761 + 0x9e3779b9) >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH']
const ODD_METHODS = [
  'get',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'BREW',
  'G',
  'PRI',
  'GET ',
  ' GET',
  'GE\0T',
  'QUERY',
  'M-SEARCH',
]
const TARGETS = ['/', '/a?b=c', '/%2e', '/a/../b', '/;x', "/!$&'()*+,=:@", '/"<>\\^`{|}', '//', '/~a']
const ODD_TARGETS = [
  '*',
  'http://a.test/',
  '/a b',
  '/#x',
  '/\x80',
  '/\xff',
  '',
  'a',
  '/\t',
  '/\0',
  'a.test:80',
  '/\x7f',
  '/?#',
]
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
]
const ODD_VERSIONS = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/1.01',
  'HTTP/1',
  'ICE/1.0',
  '',
]
const LINES = [
  'Accept: */*',
  'X: ',
  'X:y',
  'X:\t y \t',
  'Cookie: a=b',
  'cookie: c',
  'x_y.z: 1',
  'X: \x80\xff',
  'X: a\tb',
  'Trailer: X-T',
  'TE: trailers',
  'Keep-Alive: 5',
]
const ODD_LINES = [
  ...[
    'Host: b.test',
    'host: a.test',
    'Host:',
    'Host: a.test, b',
    'Host : a.test',
    ' Host: a.test',
    'X : y',
    'X',
    ':',
    ': x',
    'X: a\0b',
  ],
  ...[
    'X: a\rb',
    'X: a\nY: b',
    'X: \x7f',
    'X: \x01',
    '\x85X: y',
    'X\x85: y',
    'X: \x85',
    ' folded',
    '\tfolded',
    'X: a\r\n b',
    'X(y): z',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'connection: Close',
    'Connection: close, x',
    'Connection: keep-alive, close',
    'Connection: x',
  ],
  ...[
    'Proxy-Connection: close',
    'Connection: Content-Length',
    'Upgrade: h2c',
    'Connection: upgrade\r\nUpgrade: websocket',
    'Upgrade: x',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: 100-Continue',
    'Expect: x',
    'Expect: 100-continue\r\nExpect: 100-continue',
    `X: ${'y'.repeat(17_000)}`,
  ],
  ...[
    'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    'X: 1\r\n'.repeat(70).slice(0, -2),
    `${'n'.repeat(300)}: y`,
  ],
]
const LENGTHS = [
  ...[
    '+5',
    '-5',
    '5,5',
    '5, 5',
    '05',
    '0x5',
    '5 5',
    '',
    ' ',
    '5;x',
    '18446744073709551621',
    '999999999999999',
    '1e1',
    '5.0',
    '٥',
  ],
  ...['5\t', '\x0b5', '5\0', '00', '000000000000000000005'],
]
const CODINGS = [
  ...[
    'Transfer-Encoding: Chunked',
    'Transfer-Encoding: CHUNKED',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, identity',
  ],
  ...[
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: ,chunked',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunkedx',
  ],
  ...[
    'Transfer-Encoding : chunked',
    'Transfer-Encoding\t: chunked',
    'Transfer-Encoding:\x0bchunked',
    'Transfer-Encoding: \x00chunked',
  ],
  ...[
    'Transfer-Encoding:\r\n chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: "chunked"',
  ],
  ...[
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'Transfer_Encoding: chunked',
    'Transfer-Encoding: \x85chunked',
  ],
  ...[
    'Transfer-Encoding: chunked;q=1',
    'transfer-encoding:chunked ',
    'X: a\nTransfer-Encoding: chunked',
    'Content-Encoding: chunked',
    'Transfer-Encoding: ',
  ],
]
const CHUNK_HEADS = [
  '5;a',
  '5;a=b',
  '5;a="b c"',
  '5 ;a',
  '5; a',
  '5;',
  '5;a=',
  '05',
  '00000005',
  '5 ',
  ' 5',
  '0x5',
  '+5',
  '-5',
  '5\t',
  '5;a="',
  '5;a\0',
  '5;\x85',
  '5;a=b;c',
  '5;a="\\""',
  '5;;a',
  '5;=',
  '5,',
]
const HUGE_CHUNKS = [
  'ffffffff',
  'fffffffffffffff',
  'ffffffffffffffff',
  '10000000000000005',
  '7fffffffffffffff',
  '1fffffffffffff',
]
const ENDS = ['\n', '\r', '\n\r', '\r\r\n', '', ' \r\n', '\0\r\n', '\x85', '\v\r\n']
const INSERTS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  '\x85',
  '0\r\n\r\n',
  '\r\n\r\n',
  'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  '5\r\nhello\r\n',
  ',',
  '\x7f',
  '\xff',
]

/** Bytes of some requests, one behind the other. */
export function requestBytes(pick) {
  const choose = list => list[pick(list.length)]
  let text = ''
  for (let i = 1 + pick(3); i > 0; i--) text += message(pick, choose)
  switch (pick(6)) {
    case 0:
      for (let i = 1 + pick(2); i > 0; i--) {
        const at = pick(text.length + 1)
        text = text.slice(0, at) + choose(INSERTS) + text.slice(at)
      }
      break
    case 1: {
      const bytes = Buffer.from(text, 'latin1')
      for (let i = 1 + pick(3); i > 0; i--) bytes[pick(bytes.length)] = pick(256)
      return bytes
    }
    case 2: {
      const at = pick(text.length)
      text = text.slice(0, at) + text.slice(at + 1 + pick(4))
    }
  }
  return Buffer.from(text, 'latin1')
}

function message(pick, choose) {
  const odd = (list, others, chance) => choose(pick(chance) === 0 ? others : list)
  const lines = ['Host: a.test']
  for (let i = pick(4); i > 0; i--) lines.splice(pick(lines.length + 1), 0, odd(LINES, ODD_LINES, 5))
  const body = framing(pick, choose, lines)
  const end = () => (pick(150) === 0 ? choose(ENDS) : '\r\n')
  let text = pick(60) === 0 ? '\r\n' : ''
  text += `${odd(METHODS, ODD_METHODS, 25)}${pick(80) === 0 ? '  ' : ' '}${odd(TARGETS, ODD_TARGETS, 25)}`
  text += ` ${odd(VERSIONS, ODD_VERSIONS, 40)}${end()}`
  for (const line of lines) text += line + end()
  return text + end() + body
}

/** Adds lines that frame a body, and gives one that fits or nearly does. */
function framing(pick, choose, lines) {
  const add = line => lines.splice(pick(lines.length + 1), 0, line)
  switch (pick(9)) {
    case 0:
    case 1:
      add('Content-Length: 5')
      return pick(20) === 0 ? choose(['hell', 'hello!', '']) : 'hello'
    case 2:
    case 3:
      add('Transfer-Encoding: chunked')
      return chunked(pick, choose)
    case 4:
      if (pick(3) === 0) add(`Content-Length: ${choose(LENGTHS)}`)
      else add('Content-Length: 0')
      return ''
    case 5:
      if (pick(2) === 0) add(choose(CODINGS))
      else add('Transfer-Encoding: chunked')
      if (pick(2) === 0) add(`Content-Length: ${choose(['5', '0', '4', '30'])}`)
      return pick(2) === 0 ? 'hello' : chunked(pick, choose)
    case 6:
      if (pick(3) > 0) return ''
      add('Content-Length: 5')
      add(`Content-Length: ${choose(['5', '6', '0'])}`)
      return 'hello'
  }
  return ''
}

function chunked(pick, choose) {
  let text = ''
  for (let i = pick(4); i > 0; i--) {
    const size = pick(30)
    if (size === 0) text += `${choose(HUGE_CHUNKS)}\r\n${'x'.repeat(pick(50))}`
    else if (size < 5) text += `${choose(CHUNK_HEADS)}\r\nhello\r\n`
    else if (size === 6) text += `5${choose(ENDS)}hello\r\n`
    else if (size === 7) text += `5\r\nhello${choose(ENDS)}`
    else if (size === 8) text += `4\r\nhello\r\n`
    else text += `${size.toString(16)}\r\n${'y'.repeat(size)}\r\n`
  }
  if (pick(25) === 0) text += choose(CHUNK_HEADS).replace('5', '0')
  else text += '0'
  text += pick(40) === 0 ? choose(ENDS) : '\r\n'
  if (pick(5) === 0)
    text += `${choose(['X-T: 1', 'X-T:', 'X-T : 1', 'X-T', ' x', 'Content-Length: 5', 'X-T: a\rb', 'Host: b', 'X: \x85'])}\r\n`
  return text + (pick(40) === 0 ? choose(ENDS) : '\r\n')
}

/** The bytes in pieces: whole, each byte, or cut at some places. */
export function pieces(bytes, pick) {
  const how = pick(16)
  if (how < 6) return [bytes]
  const cuts = new Set()
  if (how === 6 && bytes.length < 1000) for (let i = 1; i < bytes.length; i++) cuts.add(i)
  else for (let i = 1 + pick(6); i > 0; i--) cuts.add(1 + pick(bytes.length))
  const all = [...cuts].sort((a, b) => a - b)
  const out = []
  let from = 0
  for (const cut of [...all, bytes.length]) {
    if (cut > from) out.push(bytes.subarray(from, cut))
    from = cut
  }
  return out
}
