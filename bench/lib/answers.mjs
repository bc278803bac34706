/** Answers of HTTP/1.1 by a grammar, most of them with something wrong: what is known of smuggling, and bytes changed at random. */

/** Numbers from a seed, the same on every machine (xorshift). `random(n)` is below n. */
export function seeded(seed) {
  let state = ((seed + 1) * 2_654_435_761) | 0 || 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const STARTS = [
  ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\n'],
  ...[
    'HTTP/1.1 404 Not Found\r\n',
    'HTTP/1.0 200 OK\r\n',
    'HTTP/1.1 204 No Content\r\n',
    'HTTP/1.1 304 \r\n',
  ],
  ...[
    'HTTP/1.1 205 x\r\n',
    'HTTP/1.1 500\r\n',
    'HTTP/1.1 200 \x85\t"x"\r\n',
    'HTTP/1.1 599 x\r\n',
    'HTTP/1.1 206 x\r\n',
  ],
  ...[
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n',
    'HTTP/1.1 103 x\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n',
  ],
  ...[
    'HTTP/1.1 102 x\r\n\r\nHTTP/1.1 100 y\r\n\r\nHTTP/1.1 404 z\r\n',
    'HTTP/1.1 100\r\nContent-Length: 4\r\n\r\nHTTP/1.1 200 OK\r\n',
  ],
  ...[
    'HTTP/1.1 101 x\r\nUpgrade: a\r\nConnection: upgrade\r\n',
    '\r\nHTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\n',
  ],
  ...[
    'HTTP/2 200 OK\r\n',
    'HTTP/1.1  200 OK\r\n',
    'HTTP/1.1 2000 OK\r\n',
    'HTTP/1.1 20 OK\r\n',
    'HTTP/0.9 200 OK\r\n',
  ],
  ...[
    'HTTP/1.1 200 OK\r\r\n',
    'http/1.1 200 OK\r\n',
    'HTTP/1.1 200 O\0K\r\n',
    'ICY 200 OK\r\n',
    'HTTP/1.1\t200 OK\r\n',
  ],
]

const PLAIN = [
  ...[
    'Date: Tue, 01 Dec 2026 00:00:00 GMT',
    'Server: x',
    'X-A:',
    'x-a: b, c',
    'Set-Cookie: a=b; Path=/',
    'ETag: "\x85\xff"',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: x, close',
    'Keep-Alive: timeout=5',
    'X-B:\tb\t ',
    "A!#$%&'*+-.^_`|~: 1",
  ],
]

/** Framing, right and wrong: CL.TE, TE.CL, TE.TE in its spellings, folding, duplicates. `N` becomes a length. */
const FRAMING = [
  ...[
    'Content-Length: N',
    'Content-Length: N',
    'Content-Length: N',
    'content-length:N',
    'Content-Length:  N\t',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked',
    'transfer-encoding:CHUNKED',
    'Transfer-Encoding: Chunked ',
  ],
  ...[
    'Content-Length: 0',
    'Content-Length: 00N',
    'Content-Length: +N',
    'Content-Length: -N',
    'Content-Length: N, N',
    'Content-Length: 0xN',
  ],
  ...[
    'Content-Length : N',
    ' Content-Length: N',
    'Content-Length: N\r\nContent-Length: N',
    'Content-Length: N\r\nContent-Length: 0',
  ],
  ...[
    'Content-Length:\r\n N',
    'Content-Length: 18446744073709551616',
    'Content-Length: 9007199254740993',
    'Content-Length: N\0',
  ],
  ...[
    'Content-Length: \x0bN',
    'Content_Length: N',
    'Content-Length\x85: N',
    'Content-Length: Ne0',
    'Content-Length: "N"',
    'Content-Length: N.0',
  ],
  ...[
    'Transfer-Encoding : chunked',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding\t: chunked',
    'Transfer-Encoding: xchunked',
  ],
  ...[
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  ],
  ...[
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity, chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: gzip',
  ],
  ...[
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding: chunked;q=1',
    'Transfer-Encoding: "chunked"',
  ],
  ...[
    'Transfer-Encoding:\r\n chunked',
    'Transfer-Encoding: chunked\r\n x',
    'Transfer-Encoding: chunked\x85',
    'Transfer-Encoding: chunked\0',
  ],
  ...[
    'Transfer_Encoding: chunked',
    'X: a\rTransfer-Encoding: chunked',
    'X: a\nTransfer-Encoding: chunked',
    'X: a\n\nTransfer-Encoding: chunked',
  ],
  ...[
    'Content-Length: N\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: N',
    'Transfer-Encoding:',
    'Content-Length:',
  ],
  ...[
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: ,chunked',
    'Transfer-Encoding: chunked,',
    'Trailer: A',
  ],
]

const CHUNKS = [
  ...[
    '3\r\nabc\r\n',
    '3\r\nabc\r\n',
    'A\r\n0123456789\r\n',
    '0003\r\nabc\r\n',
    '1\r\n\r\r\n',
    '5\r\n0\r\n\r\n\r\n',
    '2\r\n\r\n\r\n',
  ],
  ...[
    '3;a\r\nabc\r\n',
    '3;a=b\r\nabc\r\n',
    '3;a="b;\\"c"\r\nabc\r\n',
    '3;a=b;c=d\r\nabc\r\n',
    '3;a\nabc\r\n',
    '3;\r\nabc\r\n',
    '3;a=\r\nabc\r\n',
  ],
  ...[
    '3 \r\nabc\r\n',
    '3 ;a\r\nabc\r\n',
    '3; a\r\nabc\r\n',
    ' 3\r\nabc\r\n',
    '0x3\r\nabc\r\n',
    '+3\r\nabc\r\n',
    '3\nabc\n',
    '3\r\nabc\n',
  ],
  ...[
    '3\rabc\r\n',
    '3\r\nabcd\r\n',
    '3\r\nab\r\n',
    '3\r\nabc',
    'g\r\nabc\r\n',
    'ffffffffffffffff\r\nabc\r\n',
    '10000000000000003\r\nabc\r\n',
  ],
  ...[
    '3;a="b\r\nabc\r\n',
    '3;a\0b\r\nabc\r\n',
    '3\0\r\nabc\r\n',
    '3;a\x85\r\nabc\r\n',
    '-3\r\nabc\r\n',
    '\r\nabc\r\n',
    '3;a\rb\r\nabc\r\n',
  ],
  ...['3;a="\n"\r\nabc\r\n', '3,3\r\nabc\r\n', '3\t\r\nabc\r\n'],
]

const LASTS = [
  ...[
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '00\r\n\r\n',
    '0\r\nA: b\r\n\r\n',
    '0\r\nA: b\r\nC:d \r\n\r\n',
    '0;a=b\r\n\r\n',
    '0;a\r\nA: b\r\n\r\n',
  ],
  ...[
    '0\r\n',
    '0',
    '0\n\n',
    '0\r\n\n',
    '0\r\n\rx',
    '0\r\nA : b\r\n\r\n',
    '0\r\nA: b\r\n c\r\n\r\n',
    '0\r\n: x\r\n\r\n',
    '0 \r\n\r\n',
  ],
  ...[
    '0\r\nHTTP/1.1 200 OK\r\n\r\n',
    '0\r\nContent-Length: 5\r\n\r\n',
    '0\r\nTransfer-Encoding: chunked\r\n\r\n',
    '0\r\nA: \0\r\n\r\n',
    '0\r\nA: b\nC: d\r\n\r\n',
  ],
]

const BEHIND = [
  '',
  '',
  '',
  '',
  'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison',
  '\r\n',
  'X',
  '0\r\n\r\n',
]

/** What is put into a message at random. */
const SPECIAL = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '\0',
  '\x85',
  '\x7f',
  '0',
  '\x0b',
  '"',
  '=',
  'a',
  '\xff',
]

/**
 * One answer: `{ method, bytes, closed }`; `closed`: the server ends the connection behind it.
 */
export function answerFor(seed) {
  const random = seeded(seed)
  const pick = list => list[random(list.length)]
  let text = random(4) === 0 ? pick(STARTS) : STARTS[random(15)]
  const body = bodyFor(random, pick)
  const lines = []
  for (let n = random(4); n > 0; n--) lines.push(pick(PLAIN))
  if (random(8) > 0) lines.splice(random(lines.length + 1), 0, framing(random, pick, body))
  if (random(16) === 0) lines.splice(random(lines.length + 1), 0, framing(random, pick, body))
  text += `${lines.map(line => `${line}\r\n`).join('')}\r\n${body.text}${pick(BEHIND)}`
  for (let n = random(3) === 0 ? 1 + random(3) : 0; n > 0; n--) text = changed(text, random, pick)
  return {
    method: random(10) === 0 ? 'HEAD' : 'GET',
    bytes: Buffer.from(text, 'latin1'),
    closed: random(2) === 0,
  }
}

function bodyFor(random, pick) {
  if (random(2) === 0) return { chunked: false, text: 'abcdefghij0123456789'.slice(0, random(20)) }
  let text = ''
  for (let n = random(4); n > 0; n--) text += random(3) === 0 ? pick(CHUNKS) : CHUNKS[random(7)]
  return { chunked: true, text: text + (random(3) === 0 ? pick(LASTS) : LASTS[random(6)]) }
}

function framing(random, pick, body) {
  let line = pick(FRAMING)
  // Mostly one that fits.
  if (random(3) > 0) line = body.chunked ? FRAMING[5 + random(3)] : FRAMING[random(4)]
  return line.replaceAll('N', String(random(5) === 0 ? random(30) : body.text.length))
}

function changed(text, random, pick) {
  const at = random(text.length + 1)
  switch (random(5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + random(3))
    case 1:
      return text.slice(0, at) + pick(SPECIAL) + text.slice(at + 1)
    case 2:
      return text.slice(0, at) + text.slice(Math.max(0, at - random(20)))
    case 3:
      return text.slice(0, at)
  }
  return text.slice(0, at) + pick(SPECIAL) + text.slice(at)
}

/** The bytes in pieces: whole, byte by byte, or cut at a few places. */
export function piecesFor(bytes, seed) {
  const random = seeded(seed ^ 0x5bd1e995)
  const way = random(4)
  if (way === 0 || bytes.length === 0) return [bytes]
  if (way === 1) return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))
  const places = Array.from({ length: 1 + random(4) }, () => random(bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}
