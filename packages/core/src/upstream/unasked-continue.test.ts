import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ContinueFilter } from './unasked-continue.ts'

/** What a reader gets of chunks that come one by one. */
function through(chunks: readonly string[]): string {
  const socket = new PassThrough()
  const filter = new ContinueFilter(socket)
  filter.armed = true
  let got = ''
  for (const chunk of chunks) {
    if (chunk !== '') socket.write(chunk, 'latin1')
    for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) got += bytes.toString('latin1')
  }
  return got
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP'

test.each([
  ['no 100', ANSWER, ANSWER],
  ['one', `HTTP/1.1 100 Continue\r\n\r\n${ANSWER}`, ANSWER],
  ['with fields', `HTTP/1.1 100 Continue\r\nA: b\r\n\r\n${ANSWER}`, ANSWER],
  ['without a reason', `HTTP/1.1 100\r\n\r\n${ANSWER}`, ANSWER],
  ['two', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ANSWER}`, ANSWER],
  [
    'one before 103',
    `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early\r\n\r\n${ANSWER}`,
    `HTTP/1.1 103 Early\r\n\r\n${ANSWER}`,
  ],
  ['another status', 'HTTP/1.1 1000 x\r\n\r\n', 'HTTP/1.1 1000 x\r\n\r\n'],
  ['not HTTP', 'SSH-2.0-OpenSSH 100\r\n\r\n', 'SSH-2.0-OpenSSH 100\r\n\r\n'],
])('%s, however it is cut', (_name, bytes, expected) => {
  expect(through([bytes])).toBe(expected)
  expect(through([...bytes])).toBe(expected)
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 6 }), cuts => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      expect(through(at.slice(1).map((end, i) => bytes.slice(at[i], end)))).toBe(expected)
    }),
  )
})

test('a 100 that never ends is not waited for', () => {
  const endless = `HTTP/1.1 100 ${'x'.repeat(20_000)}`
  expect(through([endless.slice(0, 10_000), endless.slice(10_000)])).toBe(endless)
})
