/** The wire connector against servers that say exactly what they are told. */
import { createServer, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { certificate } from '../../../test/support/certificate.ts'
import { listen, until } from '../../../test/support/servers.ts'
import { sourceOf } from '../../body/transform.ts'
import { ProxyError } from '../../errors.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Sink, Source } from '../../pipeline/contract.ts'
import type { Call, Connector, OutgoingRequest, Receiver } from '../../upstream/connector.ts'
import type { Http1Options } from '../../upstream/http1-options.ts'
import { wireConnector } from './pool.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** What a receiver heard, in order. */
class Heard implements Receiver {
  readonly log: string[] = []
  body = ''
  error: ProxyError | null = null
  over = false
  /** Says no to the next chunks. */
  full = false
  onInterim(status: number): void {
    this.log.push(String(status))
  }
  onHead(status: number, _headers: string[], ended?: boolean): void {
    this.log.push(`${status}${ended ? ' ended' : ''}`)
  }
  onData(bytes: Uint8Array): boolean {
    this.body += Buffer.from(bytes).toString('latin1')
    return !this.full
  }
  onEnd(trailers: string[]): void {
    expect(this.over).toBe(false)
    this.over = true
    this.log.push(trailers.length > 0 ? `end ${trailers.join()}` : 'end')
  }
  onError(error: ProxyError): void {
    expect(this.over).toBe(false)
    this.over = true
    this.error = error
    this.log.push(error.code)
  }
}

/** A server and a pool for it. `onData` gets what has come on the connection since the last answer. */
async function pool(
  onData: (socket: Socket, text: string, connection: number) => void,
  options: Partial<Http1Options> = {},
) {
  const sockets: Socket[] = []
  const received: string[] = []
  const server = createServer({ allowHalfOpen: true }, socket => {
    const at = sockets.push(socket) - 1
    received.push('')
    socket.on('error', () => {})
    socket.on('data', bytes => {
      received[at] += bytes.toString('latin1')
      onData(socket, bytes.toString('latin1'), at)
    })
    socket.on('end', () => socket.end())
  })
  const port = await listen(server)
  const connector = connect(`http://127.0.0.1:${port}`, options)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { connector, sockets, received, port, server }
}

function connect(origin: string, options: Partial<Http1Options>): Connector {
  const connector = wireConnector({
    origin,
    serverName: null,
    connections: 4,
    queue: 10,
    keepAlive: 4000,
    connectTimeout: 5000,
    headTimeout: 5000,
    idleTimeout: 5000,
    tls: {},
    address: null,
    socketPath: null,
    warm: 0,
    ...options,
  })
  onTestFinished(() => connector.destroy())
  return connector
}

function send(
  connector: Connector,
  part: Partial<OutgoingRequest> = {},
  heard = new Heard(),
): { heard: Heard; call: Call } {
  const request = { method: 'GET', target: '/', headers: ['Host', 'a.test'], body: null, ...part }
  return { heard, call: connector.send(request, heard) }
}

async function ask(connector: Connector, part: Partial<OutgoingRequest> = {}): Promise<Heard> {
  const { heard } = send(connector, part)
  await until('it is over', () => heard.over)
  return heard
}

/** A source in the hands of the test. */
function manual(length: number | null): Source & { sink: Sink | null; log: string[] } {
  const made: ReturnType<typeof manual> = {
    length,
    sink: null,
    log: [],
    start(sink) {
      made.sink = sink
      return {
        pause: () => void made.log.push('pause'),
        resume: () => void made.log.push('resume'),
        cancel: error => void made.log.push(`cancel ${error.code}`),
      }
    },
  }
  return made
}

describe('connections', () => {
  it('are used again, the last one first, and never more than allowed', async () => {
    const held: Socket[] = []
    const { connector, sockets, received } = await pool(socket => void held.push(socket), { connections: 2 })
    const first = [send(connector), send(connector), send(connector)]
    await until('two are open', () => held.length === 2)
    expect(connector.connections!()).toEqual({ open: 2, idle: 0, waiting: 1 })
    for (const socket of held.splice(0)) socket.write(OK)
    await until('the third', () => held.length === 1)
    held[0]!.write(OK)
    await until('all', () => first.every(({ heard }) => heard.over))
    expect(connector.connections!()).toEqual({ open: 2, idle: 2, waiting: 0 })
    const last = received.findIndex(text => text.split('GET').length === 3)
    held.length = 0
    const { heard } = send(connector)
    await until('it is sent', () => held.length === 1)
    expect(held[0]).toBe(sockets[last])
    held[0]!.write(OK)
    await until('it is over', () => heard.over)
    expect([heard.log, sockets.length]).toEqual([['200', 'end'], 2])
  })

  it('a head and a small body leave in one write', async () => {
    const pieces: string[] = []
    const { connector } = await pool((socket, text) => {
      pieces.push(text)
      socket.write(OK)
    })
    const body = (length: number | null): Source => ({ ...sourceOf(Buffer.from('hello')), length })
    await ask(connector, { method: 'POST', body: body(5) })
    await ask(connector, { method: 'POST', body: body(null) })
    expect(pieces).toEqual([
      'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello',
      'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ])
  })

  it.each<[string, string, 'GET' | 'HEAD']>([
    ['says close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok', 'GET'],
    ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'GET'],
    ['has bytes behind it', `${OK}X`, 'GET'],
    ['has a whole answer behind it', OK + OK, 'GET'],
    ['has a body although HEAD was asked', OK, 'HEAD'],
    [
      'says that it is kept for no time',
      `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\n${OK.slice(17)}`,
      'GET',
    ],
  ])('one whose answer %s is not used again', async (_, answer, method) => {
    const { connector, sockets } = await pool(socket => void socket.write(answer))
    expect((await ask(connector, { method })).log.at(-1)).toBe('end')
    expect((await ask(connector, { method })).log.at(-1)).toBe('end')
    expect(sockets).toHaveLength(2)
  })

  it('one that closes, or speaks, while it is idle is not used again', async () => {
    const { connector, sockets } = await pool(socket => void socket.write(OK))
    await ask(connector)
    sockets[0]!.write(OK)
    await until('it is gone', () => connector.connections!().open === 0)
    await ask(connector)
    sockets[1]!.end()
    await until('it is gone', () => connector.connections!().open === 0)
    expect((await ask(connector)).log).toEqual(['200', 'end'])
    expect(sockets).toHaveLength(3)
  })

  it('one that speaks before it was asked is not used', async () => {
    const { connector, server } = await pool(() => {}, { warm: 1 })
    let poisoned = 0
    server.on('connection', socket => {
      if (poisoned++ === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
      else socket.on('data', () => socket.write(OK))
    })
    await until('the first is refused', () => poisoned === 1 && connector.connections!().open === 0)
    expect((await ask(connector)).body).toBe('ok')
  })

  it('one that is used by nobody is closed in time', async () => {
    const { connector } = await pool(socket => void socket.write(OK), { keepAlive: 60 })
    await ask(connector)
    expect(connector.connections!().idle).toBe(1)
    await until('it is closed', () => connector.connections!().open === 0)
  })

  it('a fresh one is new, also when all places are taken by idle ones', async () => {
    const { connector, sockets } = await pool(socket => void socket.write(OK), { connections: 1 })
    await ask(connector)
    expect((await ask(connector, { fresh: true })).log).toEqual(['200', 'end'])
    expect([sockets.length, connector.connections!().open]).toEqual([2, 1])
  })
})

describe('failures', () => {
  it('a kept connection that ends before a byte of the answer was stale; a new one, or a byte, is a reset', async () => {
    let asked = 0
    const { connector } = await pool(socket => {
      asked++
      if (asked === 1 || asked === 4) socket.write(OK)
      else if (asked === 2 || asked === 3) socket.destroy()
      else socket.write('HTT', () => socket.destroy())
    })
    await ask(connector)
    expect((await ask(connector)).error).toMatchObject({ code: 'stale-socket', retryable: false })
    expect((await ask(connector)).error).toMatchObject({ code: 'upstream-reset', phase: 'reply-head' })
    await ask(connector)
    expect((await ask(connector)).error).toMatchObject({ code: 'upstream-reset' })
  })

  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
  ])('a body %s that is cut is never whole', async (_, answer) => {
    const { connector } = await pool(socket => void socket.end(answer))
    const heard = await ask(connector)
    expect([heard.body, heard.log]).toEqual(['ab', ['200', 'upstream-reset']])
    expect(heard.error).toMatchObject({ phase: 'reply-body' })
  })

  it('a body without a length that is reset is never whole', async () => {
    const { connector } = await pool(socket => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nab', () => setTimeout(() => socket.resetAndDestroy(), 30))
    })
    expect((await ask(connector)).log).toEqual(['200', 'upstream-reset'])
  })

  it('an answer that is none is told, and its connection closed', async () => {
    const { connector } = await pool(socket => void socket.write('SSH-2.0-x\r\n'))
    expect((await ask(connector)).error).toMatchObject({ code: 'bad-reply', source: 'upstream' })
    expect(connector.connections!().open).toBe(0)
  })

  it('times: for the connection, the head, silence in a body', async () => {
    const { connector } = await pool(
      socket => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na'),
      {
        idleTimeout: 60,
      },
    )
    expect((await ask(connector)).error).toMatchObject({ code: 'idle-timeout', phase: 'reply-body' })
    const silent = await pool(() => {}, { headTimeout: 60 })
    expect((await ask(silent.connector)).error).toMatchObject({ code: 'head-timeout', phase: 'reply-head' })
    // A TLS server that never answers the handshake.
    const dead = connect(`https://127.0.0.1:${silent.port}`, { connectTimeout: 60 })
    expect((await ask(dead)).error).toMatchObject({
      code: 'connect-timeout',
      phase: 'connect',
      retryable: true,
    })
  })

  it('what cannot be sent is not sent; a full queue and a closed pool say so', async () => {
    const { connector, sockets } = await pool(() => {}, { connections: 1, queue: 0 })
    expect((await ask(connector, { headers: ['A', 'b\r\nc'] })).error).toMatchObject({ code: 'bad-forward' })
    expect(sockets).toHaveLength(0)
    send(connector)
    expect((await ask(connector)).error).toMatchObject({ code: 'queue-full', retryable: true })
    await connector.destroy()
    expect((await ask(connector)).error).toMatchObject({ code: 'connect-failed', retryable: true })
  })
})

describe('uploads', () => {
  it('wait for 100 Continue, and go when it comes', async () => {
    const { connector, received } = await pool((socket, text) => {
      if (text.startsWith('POST')) setTimeout(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 30)
      else socket.write(OK)
    })
    const body = manual(2)
    const { heard } = send(connector, {
      method: 'POST',
      body,
      headers: ['Host', 'a', 'Expect', '100-continue'],
    })
    await until('the head', () => received[0]?.endsWith('\r\n\r\n') === true)
    expect(body.sink).toBeNull()
    await until('the body is wanted', () => body.sink !== null)
    body.sink!.write(Buffer.from('ab'))
    body.sink!.end()
    await until('it is over', () => heard.over)
    expect(heard.log).toEqual(['100', '200', 'end'])
  })

  it('that are not wanted are not sent, and their connection is not used again', async () => {
    const { connector, sockets } = await pool(socket => void socket.write(OK))
    const body = manual(2)
    const part = { method: 'POST', body, headers: ['Host', 'a', 'Expect', '100-continue'] }
    expect((await ask(connector, part)).log).toEqual(['200', 'end'])
    expect(body.sink).toBeNull()
    await ask(connector)
    expect(sockets).toHaveLength(2)
  })

  it('that are answered early are stopped, and their connection is not used again', async () => {
    const { connector, sockets } = await pool(socket => void socket.write(OK))
    const body = manual(1000)
    const { heard } = send(connector, { method: 'POST', body })
    await until('the body is wanted', () => body.sink !== null)
    body.sink!.write(Buffer.from('ab'))
    await until('it is over', () => heard.over)
    expect([heard.log, body.log]).toEqual([['200', 'end'], ['cancel upstream-reset']])
    await ask(connector)
    expect(sockets).toHaveLength(2)
  })

  it('of a wrong length never look whole', async () => {
    const { connector, received } = await pool(() => {})
    const long = manual(2)
    const one = send(connector, { method: 'POST', body: long })
    await until('it is started', () => long.sink !== null)
    expect(long.sink!.write(Buffer.from('abc'))).toBe(false)
    expect(one.heard.error).toMatchObject({ code: 'bad-forward' })
    const short = manual(5)
    const other = send(connector, { method: 'POST', body: short })
    await until('it is started', () => short.sink !== null)
    short.sink!.write(Buffer.from('abc'))
    short.sink!.end()
    expect(other.heard.error).toMatchObject({ code: 'bad-forward' })
    await until('it is cut', () => connector.connections!().open === 0)
    expect(received.join('')).not.toContain('abcd')
  })

  it('that break are cut, and the client is who failed', async () => {
    const { connector, sockets } = await pool(() => {})
    const body = manual(null)
    const { heard } = send(connector, { method: 'POST', body })
    await until('it is started', () => body.sink !== null && sockets.length === 1)
    let ended = false
    sockets[0]!.on('close', () => {
      ended = true
    })
    const error = new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' })
    body.sink!.fail(error)
    expect(heard.error).toBe(error)
    await until('it is closed', () => ended)
  })

  it('have trailers, but none that frame or route, or that a hook has decided about', async () => {
    const { connector, received } = await pool((socket, text) => {
      if (text.endsWith('\r\n\r\n') && text.includes('0\r\n')) socket.write(OK)
    })
    const body = manual(null)
    const decided = (name: string): boolean => name === 'X-User'
    const { heard } = send(connector, { method: 'POST', body, decided })
    await until('it is started', () => body.sink !== null)
    body.sink!.write(Buffer.from('ab'))
    body.sink!.end(
      HeaderList.from({ Sum: '1', Host: 'b', 'Content-Length': '5', Cookie: 'c', 'X-User': 'd' }),
    )
    await until('it is over', () => heard.over)
    expect(received[0]!.endsWith('2\r\nab\r\n0\r\nSum: 1\r\n\r\n')).toBe(true)
  })

  it('wait while the target does not read, and that has its time', async () => {
    const { connector, sockets } = await pool(socket => void socket.pause(), { idleTimeout: 100 })
    const body = manual(null)
    const { heard } = send(connector, { method: 'POST', body })
    await until('it is started', () => body.sink !== null && sockets.length === 1)
    const piece = Buffer.alloc(1 << 20)
    let more = true
    for (let i = 0; i < 1000 && !heard.over; i++) {
      more = body.sink!.write(piece)
      const { length } = body.log
      await until('it is wanted again, or over', () => more || body.log.length > length || heard.over)
    }
    expect(more).toBe(false)
    await until('its time is up', () => heard.over)
    expect(heard.error).toMatchObject({ code: 'idle-timeout', phase: 'request-body' })
  })
})

describe('answers', () => {
  it('come with trailers and interim ones', async () => {
    const { connector } = await pool(socket => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n')
      socket.write('Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nSum: 1\r\n\r\n')
    })
    const heard = await ask(connector)
    expect([heard.body, heard.log]).toEqual(['a', ['100', '103', '200', 'end Sum,1']])
  })

  it('without a body say so with their head, and leave the connection free', async () => {
    const { connector, sockets } = await pool((socket, text) => {
      const status = text.startsWith('HEAD') ? 200 : 304
      socket.write(`HTTP/1.1 ${status} x\r\nContent-Length: 100\r\n\r\n`)
    })
    expect((await ask(connector)).log).toEqual(['304 ended', 'end'])
    expect((await ask(connector, { method: 'HEAD' })).log).toEqual(['200 ended', 'end'])
    expect(sockets).toHaveLength(1)
  })

  it('101 that nobody asked for is a bad one', async () => {
    const { connector } = await pool(socket => void socket.write('HTTP/1.1 101 x\r\nUpgrade: y\r\n\r\n'))
    expect((await ask(connector)).error?.code).toBe('bad-reply')
  })

  it.each([
    ['with a length', (bytes: number) => `Content-Length: ${bytes}\r\n\r\n`],
    ['until the end', () => '\r\n'],
  ])('%s wait while the receiver does not want more, and are whole in the end', async (_, framing) => {
    const size = 8 << 20
    const pattern = Buffer.from(Array.from({ length: 1 << 16 }, (_, i) => (i * 7 + (i >> 8)) & 0xff))
    const { connector, sockets } = await pool(socket => {
      socket.write(`HTTP/1.1 200 OK\r\n${framing(size)}`)
      for (let i = 0; i < size; i += pattern.length) socket.write(pattern)
      if (framing(size) === '\r\n') socket.end()
    })
    const heard = new Heard()
    heard.full = true
    const { call } = send(connector, {}, heard)
    await until('a first part', () => heard.body.length > 0)
    await new Promise(resolve => setTimeout(resolve, 50))
    const before = heard.body.length
    expect(before).toBeLessThan(1 << 18)
    expect(sockets[0]!.writableLength).toBeGreaterThan(0)
    heard.full = false
    call.resume()
    await until('it is over', () => heard.over, 10_000)
    expect(heard.log).toEqual(['200', 'end'])
    expect(
      Buffer.from(heard.body, 'latin1').equals(Buffer.concat(Array(size / pattern.length).fill(pattern))),
    ).toBe(true)
  })

  it('chunks of one read wait, too, and nothing of them is lost or mixed with another connection', async () => {
    const letters = 'abcdefghij'
    const { connector } = await pool(
      (socket, text) => {
        const letter = text.charAt(5)
        const chunks = Array.from(
          { length: 200 },
          (_, i) => `1\r\n${letter}\r\n${i === 100 ? '2;x=y\r\n--\r\n' : ''}`,
        )
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`)
      },
      { connections: 10 },
    )
    const all = [...letters].map(letter => {
      const heard = new Heard()
      heard.full = true
      return { letter, ...send(connector, { target: `/${letter}` }, heard) }
    })
    for (let turn = 0; turn < 1000 && all.some(({ heard }) => !heard.over); turn++) {
      await new Promise(setImmediate)
      for (const { call } of all) call.resume()
    }
    for (const { letter, heard } of all) {
      expect(heard.body).toBe(`${letter.repeat(101)}--${letter.repeat(99)}`)
    }
  })
})

describe('giving up', () => {
  const gone = new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })

  it('while an answer comes: nothing more is heard, and the connection is closed', async () => {
    const { connector, sockets } = await pool(socket => void socket.write('HTTP/1.1 200 OK\r\n\r\nab'))
    const { heard, call } = send(connector)
    await until('it comes', () => heard.body === 'ab')
    call.cancel(gone)
    call.cancel(gone)
    sockets[0]!.write('cd')
    await until('it is closed', () => connector.connections!().open === 0)
    expect(heard).toMatchObject({ body: 'ab', over: false })
  })

  it('while it connects: the connection serves the next one', async () => {
    const { connector, sockets } = await pool(socket => void socket.write(OK), { connections: 1 })
    const { heard, call } = send(connector)
    call.cancel(gone)
    expect((await ask(connector)).log).toEqual(['200', 'end'])
    expect([heard.log, sockets.length]).toEqual([[], 1])
  })

  it('while it waits: its place is free at once', async () => {
    const { connector } = await pool(() => {}, { connections: 1, queue: 1 })
    send(connector)
    const { call } = send(connector)
    call.cancel(gone)
    expect(connector.connections!().waiting).toBe(0)
    send(connector)
    expect(connector.connections!().waiting).toBe(1)
  })
})

describe('the end', () => {
  it('close() waits for what runs and what waits; then all is closed', async () => {
    const held: Socket[] = []
    const { connector } = await pool(socket => void held.push(socket), { connections: 1 })
    const both = [send(connector), send(connector)]
    await until('the first', () => held.length === 1)
    let closed = false
    const closing = connector.close().then(() => {
      closed = true
    })
    held[0]!.write(OK)
    await until('the second', () => held.length === 2)
    expect(closed).toBe(false)
    held[1]!.write(OK)
    await closing
    expect(both.map(({ heard }) => heard.log.at(-1))).toEqual(['end', 'end'])
    expect(connector.connections!()).toEqual({ open: 0, idle: 0, waiting: 0 })
  })

  it('destroy() fails what runs and what waits', async () => {
    const { connector, received } = await pool(() => {}, { connections: 1 })
    const both = [send(connector), send(connector)]
    await until('the first', () => received[0] !== undefined && received[0] !== '')
    await connector.destroy()
    expect(both.map(({ heard }) => heard.error?.code)).toEqual(['upstream-reset', 'connect-failed'])
  })
})

it('TLS: the session is used again for the next connection', async () => {
  const { key, cert } = certificate()
  const reused: boolean[] = []
  const server = createTls({ key, cert }, socket => {
    reused.push(socket.isSessionReused())
    socket.on('error', () => {})
    socket.on('data', () => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n${OK.slice(17)}`))
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const connector = connect(`https://localhost:${port}`, { serverName: 'localhost', tls: { ca: cert } })
  for (let i = 0; i < 3; i++) expect((await ask(connector)).log).toEqual(['200', 'end'])
  expect(reused).toEqual([false, true, true])
  const stranger = connect(`https://localhost:${port}`, { serverName: 'localhost' })
  expect((await ask(stranger)).error?.code).toBe('tls-failed')
})
