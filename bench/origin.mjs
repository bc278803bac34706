/**
 * The origin of the bench: `node bench/origin.mjs --port P` prints `listening` when it accepts.
 *
 * It works on the socket and sends answers made beforehand, so that it costs little beside the proxies: 174 bytes
 * at `/`, 100 KB at `/100k`. GET only; a request with a body, or a head it cannot hold, ends the connection.
 */
import { createServer } from 'node:net'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'

const MAX_HEAD = 16_384

const port = orUsage('usage: node bench/origin.mjs --port P', () => {
  return whole('port', parseFlags(process.argv.slice(2), { port: undefined }).port, 0, 65_535)
})

const small = answer(200, 'OK', pattern(174))
const large = answer(200, 'OK', pattern(102_400))
const missing = answer(404, 'Not Found', pattern(10))

const server = createServer({ noDelay: true }, socket => {
  let held = ''
  socket.on('data', bytes => {
    held += bytes.latin1Slice()
    for (let end = held.indexOf('\r\n\r\n'); end !== -1; end = held.indexOf('\r\n\r\n')) {
      const head = held.slice(0, end)
      held = held.slice(end + 4)
      if (!head.startsWith('GET /') || /\r\n(?:content-length: *[1-9]|transfer-encoding:)/i.test(head)) {
        socket.destroy()
        return
      }
      socket.write(select(head.slice(4, head.indexOf(' ', 4))))
    }
    if (held.length > MAX_HEAD) socket.destroy()
  })
  socket.on('error', () => socket.destroy())
})
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

function select(target) {
  if (target === '/') return small
  return target === '/100k' ? large : missing
}

/** Bytes that differ from place to place, so that a proxy that mixes them up is found. */
function pattern(length) {
  return Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7 + (i >> 6)) % 94))).join('')
}

function answer(status, text, body) {
  const fields = ['Content-Type: text/plain', `Content-Length: ${body.length}`, 'Server: origin']
  fields.push('Date: Tue, 01 Dec 2026 00:00:00 GMT')
  return Buffer.from(`HTTP/1.1 ${status} ${text}\r\n${fields.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}
