/** Large answers that were asked for ahead, and a client that reads slowly: each comes whole, in order, whatever is behind. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer as createTls, type TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HeaderList, pipeline, proxy, reply, type Sink } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { openSocket, openTls } from './support/clients.ts'
import { edge, listen, testUpstream, until } from './support/servers.ts'

const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\n${more}\r\n`
const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Bytes that are other ones for each seed, and nowhere the same as a little further on. */
function bytesOf(length: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0, x = seed; i < words.length; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    words[i] = x
  }
  return Buffer.from(words.buffer, 0, length)
}

const FILES: Record<string, Buffer> = {
  '/2': bytesOf(2e6, 1),
  '/5': bytesOf(5e6, 2),
  '/8': bytesOf(8e6, 3),
}

/** Sends the files: with their length, or in chunks when the query says so. */
const files: RequestListener = (req, res) => {
  const [path, query] = req.url!.split('?')
  const file = FILES[path!]!
  if (query !== 'chunked') {
    res.setHeader('content-length', file.length)
    res.end(file)
    return
  }
  let at = 0
  const pump = (): void => {
    while (at < file.length) {
      const piece = file.subarray(at, at + 50_021)
      at += piece.length
      if (!res.write(piece)) {
        res.once('drain', pump)
        return
      }
    }
    res.end()
  }
  pump()
}

async function fileServer(scheme: 'http' | 'https'): Promise<string> {
  const server = scheme === 'https' ? createHttps(certificate(), files) : createServer(files)
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${scheme}://localhost:${port}`
}

/** Bodies of the answers in what was received; what is cut short is left out. */
function bodiesIn(all: Buffer): Buffer[] {
  const bodies: Buffer[] = []
  let at = 0
  for (;;) {
    const head = all.indexOf('\r\n\r\n', at)
    if (head < 0) return bodies
    const fields = all.toString('latin1', at, head)
    at = head + 4
    const length = /content-length: (\d+)/i.exec(fields)
    if (length !== null) {
      const end = at + Number(length[1])
      if (end > all.length) return bodies
      bodies.push(all.subarray(at, end))
      at = end
      continue
    }
    const chunks: Buffer[] = []
    for (let size = -1; size !== 0; ) {
      const line = all.indexOf('\r\n', at)
      if (line < 0) return bodies
      size = Number.parseInt(all.toString('latin1', at, line), 16)
      at = line + 2
      chunks.push(all.subarray(at, at + size))
      at += size + 2
    }
    if (at > all.length) return bodies
    bodies.push(Buffer.concat(chunks))
  }
}

/** Sends it all at once, and reads with many short pauses until nothing has come for a while or the connection is closed. */
async function readSlowly(socket: ReturnType<typeof openSocket>, text: string): Promise<Buffer> {
  const got: Buffer[] = []
  let reads = 0
  let closed = false
  socket.on('close', () => {
    closed = true
  })
  socket.on('data', (bytes: Buffer) => {
    got.push(bytes)
    if (reads++ % 40 !== 0) return
    socket.pause()
    setTimeout(() => socket.resume(), 4)
  })
  socket.write(text)
  for (let before = -1; !closed && before !== got.length; ) {
    before = got.length
    await until('news', () => closed || got.length !== before, 4000).catch(() => {})
  }
  socket.destroy()
  return Buffer.concat(got)
}

describe.each(['wire', 'undici'] as const)('from an upstream over %s', http1 => {
  describe.each(['http', 'https'] as const)('%s', scheme => {
    it.each(['http', 'https'] as const)('to a client over %s', async kind => {
      const target = await fileServer(scheme)
      const up = testUpstream(target, {
        http1,
        ...(scheme === 'https' ? { tls: { ca: certificate().cert } } : {}),
      })
      const { port } = await edge(pipeline().handle(proxy(up)), kind)
      const asked = [
        ['/8', '/8', '/8'],
        ['/8?chunked', '/2', '/5'],
        ['/8', '/5?chunked', '/2'],
        ['/8?chunked', '/8?chunked', '/5?chunked'],
      ]
      for (const targets of asked) {
        const socket = kind === 'http' ? openSocket(port) : await openTls(port)
        const text = targets.map((one, i) => get(one, i === 2 ? 'Connection: close\r\n' : '')).join('')
        const bodies = bodiesIn(await readSlowly(socket, text))
        const sent = targets.map(one => FILES[one.split('?')[0]!]!)
        expect(bodies.map(body => body.length)).toEqual(sent.map(file => file.length))
        expect(bodies.map(hash)).toEqual(sent.map(hash))
      }
    })
  })
})

it('bytes of known length, too', async () => {
  const { port } = await edge(pipeline().handle(cx => reply(200, FILES[cx.request.path]!)))
  for (let i = 0; i < 3; i++) {
    const all = await readSlowly(openSocket(port), get('/8') + get('/5') + get('/2', 'Connection: close\r\n'))
    expect(bodiesIn(all).map(hash)).toEqual([FILES['/8'], FILES['/5'], FILES['/2']].map(file => hash(file!)))
  }
})

it('a connection whose answer ended in what was read before a pause is read from again', async () => {
  let connections = 0
  const server = createTls(certificate(), (socket: TLSSocket) => {
    connections++
    socket.on('error', () => {})
    socket.on('data', async (bytes: Buffer) => {
      if (!bytes.includes('GET /big')) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext')
        return
      }
      const first = 60_000
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write(`${first.toString(16)}\r\n${'a'.repeat(first)}\r\n`)
      // More than an answer keeps before it is wanted: what is behind it in this record waits until then.
      const more = 8000
      socket.write(`${more.toString(16)}\r\n${'b'.repeat(more)}\r\n3\r\nend\r\n0\r\n\r\n`)
    })
  })
  const upstreamPort = await listen(server)
  onTestFinished(() => void server.close())
  const up = testUpstream(`https://localhost:${upstreamPort}`, {
    connections: 1,
    tls: { ca: certificate().cert },
    timeouts: { head: 3000 },
  })
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const app = pipeline()
    .route('GET /held', r => r.handle(() => released.then(() => reply(200, 'held'))))
    .handle(proxy(up))
  const { port } = await edge(app)
  const socket = openSocket(port)
  await once(socket, 'connect')
  const got: Buffer[] = []
  socket.on('data', (bytes: Buffer) => got.push(bytes))
  socket.write(get('/held') + get('/big'))
  await until('the upstream to be asked', () => connections === 1)
  await new Promise(resolve => setTimeout(resolve, 200))
  release()
  await until('both answers', () => bodiesIn(Buffer.concat(got)).length === 2)
  expect(bodiesIn(Buffer.concat(got))[1]!.toString()).toBe(`${'a'.repeat(60_000)}${'b'.repeat(8000)}end`)
  socket.write(get('/next'))
  await until('the next answer', () => bodiesIn(Buffer.concat(got)).length === 3)
  expect(bodiesIn(Buffer.concat(got))[2]!.toString()).toBe('next')
  expect(connections).toBe(1)
})

it('a source that was stopped by what was only gathered goes on', async () => {
  const length = 200 * 16_384
  const app = pipeline().handle(() => ({
    status: 200,
    headers: HeaderList.from({ 'Content-Length': String(length) }),
    body: {
      length,
      start(sink: Sink) {
        let left = 200
        const run = (): void => {
          while (left > 0) {
            left--
            if (!sink.write(Buffer.alloc(16_384, 'x')) && left > 0) return
          }
          sink.end()
        }
        setImmediate(run)
        return { pause() {}, resume: run, cancel() {} }
      },
    },
  }))
  const { port } = await edge(app)
  const all = await readSlowly(openSocket(port), get('/1') + get('/2', 'Connection: close\r\n'))
  expect(all.length).toBeGreaterThan(2 * length)
})
