/** B017: an HTTP/1.1 upstream that says 100 without being asked. */
import { expect, it } from 'vitest'
import { exchangeBytes, openSocket, raw1 } from './support/clients.ts'
import { proxyEdge, rawOrigin, until } from './support/servers.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

it.each([
  ['in one packet', (say: (text: string) => void) => say(CONTINUE + OK)],
  [
    'in two packets',
    (say: (text: string) => void) => {
      say(CONTINUE)
      setTimeout(() => say(OK), 30)
    },
  ],
  ['twice', (say: (text: string) => void) => say(CONTINUE + CONTINUE + OK)],
  [
    'cut in the middle',
    (say: (text: string) => void) => {
      say(CONTINUE.slice(0, 11))
      setTimeout(() => say(CONTINUE.slice(11) + OK), 30)
    },
  ],
])('%s, request after request on one connection', async (_name, answer) => {
  const up = await rawOrigin(socket => socket.on('data', () => answer(text => void socket.write(text))))
  const { port } = await proxyEdge(up.url)
  const socket = openSocket(port)
  let got = ''
  socket.on('data', bytes => {
    got += bytes
  })
  for (let i = 1; i <= 3; i++) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(`answer ${i}`, () => got.split('\r\n\r\nok').length === i + 1)
  }
  expect(got.match(/HTTP\/1\.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 200'))
  expect(up.sockets.size).toBe(1)
})

it('before the answer to an upload', async () => {
  const up = await rawOrigin((socket, received) => {
    socket.write(CONTINUE)
    socket.on('data', () => {
      if (received().endsWith('hi')) socket.write(OK)
    })
  })
  const { port } = await proxyEdge(up.url)
  // What an idle connection says before it is asked is no 100 of anybody's: the second one is.
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi'
  expect([200, 502]).toContain((await raw1(port, post)).status)
  const asked = await rawOrigin((socket, received) =>
    socket.on('data', bytes => {
      if (bytes.includes('POST')) socket.write(CONTINUE)
      if (received().endsWith('hi')) socket.write(OK)
    }),
  )
  const edge = await proxyEdge(asked.url)
  expect((await raw1(edge.port, post)).status).toBe(200)
})

it('a body that looks like one is a body', async () => {
  const body = `${CONTINUE}HTTP/1.1 200 OK\r\n\r\n`
  const up = await rawOrigin(socket =>
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)),
  )
  const { port } = await proxyEdge(up.url)
  const { text } = await exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(text.endsWith(body)).toBe(true)
})
