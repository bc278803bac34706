/** B035: what an HTTP/2 client may cost. Raw frames against real listeners, plain and with TLS. */

import { createServer } from 'node:http'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AttachOptions, attach, ConfigError, pipeline, proxy, reply } from '../src/index.ts'
import { request2, session2 } from './support/clients.ts'
import {
  ACK,
  ask,
  block,
  CONTINUATION,
  DATA,
  END_HEADERS,
  type Frame,
  frame,
  frameClient,
  frameReader,
  GOAWAY,
  HEADERS,
  PING,
  PREFACE,
  PRIORITY,
  RST_STREAM,
  rst,
  SETTINGS,
  setting,
  u32,
  WINDOW_UPDATE,
} from './support/frames.ts'
import { origin2 } from './support/http2-origin.ts'
import { edge, testUpstream, until } from './support/servers.ts'

type Client = ReturnType<typeof frameClient>

const CALM = 11
const POST = block([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'edge.test'],
  [':path', '/'],
])
const many = (count: number, make: (i: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(i)))
const goaways = ({ frames }: Client): number[] =>
  frames.filter(one => one.type === GOAWAY).map(one => one.payload.readUInt32BE(4))

const resets = ({ frames }: Client): number[] =>
  frames.filter(one => one.type === RST_STREAM).map(one => one.payload.readUInt32BE(0))

/** An edge whose exchanges are counted; one with a body is never answered. */
async function counted(
  kind: 'h2c' | 'h2' = 'h2c',
  options: AttachOptions = {},
): Promise<{ port: number; url: string; opened: () => number }> {
  let opened = 0
  const app = pipeline()
    .use({ name: 'count', onRequest: () => void opened++ })
    .handle(cx => (cx.body ? new Promise(() => {}) : reply(200, 'ok')))
  const { port, url } = await edge(app, kind, options)
  return { port, url, opened: () => opened }
}

/** A client of frames over TLS. */
function secureFrameClient(port: number): Client {
  const socket = connectTls({ port, host: '127.0.0.1', ALPNProtocols: ['h2'], rejectUnauthorized: false })
  const frames: Frame[] = []
  let closed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  const read = frameReader(one => {
    frames.push(one)
    if (one.type === SETTINGS && !(one.flags & ACK)) socket.write(frame(SETTINGS, ACK, 0))
  })
  socket.on('data', read)
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]))
  onTestFinished(() => {
    socket.destroy()
  })
  return { socket, frames, closed: () => closed, send: (...sent) => void socket.write(Buffer.concat(sent)) }
}

describe.each(['h2c', 'h2'] as const)('on %s', kind => {
  const start = (port: number): Client => (kind === 'h2' ? secureFrameClient(port) : frameClient(port))

  it('rapid reset: the upstream sees few of them, and the session ends', async () => {
    let asked = 0
    const up = await origin2(() => void asked++)
    const { port, url } = await edge(
      pipeline().handle(proxy(testUpstream(up.url, { protocol: 'h2c' }))),
      kind,
    )
    const client = start(port)
    for (let k = 0; k < 100 && !client.closed(); k++) {
      client.send(
        many(200, i => {
          const id = 1 + 2 * (k * 200 + i)
          return Buffer.concat([ask(id), rst(id, k % 2 === 0 ? 8 : 0)])
        }),
      )
      await new Promise(resolve => setImmediate(resolve))
    }
    await until('the end of the session', client.closed)
    // Over TLS the reset of the connection may overtake what was said last.
    if (kind === 'h2c') expect(goaways(client)).toContain(CALM)
    expect(asked).toBeLessThan(1000)
    // Others are served.
    const other = session2(url).request({ ':path': '/', ':authority': 'a' })
    other.on('error', () => {})
    const before = asked
    await until('another client', () => asked > before)
  })

  it('CONTINUATION without an end', async () => {
    // After a broken frame Node reads no more; the session's idle time ends it.
    const { port, opened } = await counted(kind, { sessionIdleTimeout: 200 })
    const client = start(port)
    client.send(frame(HEADERS, 0, 1, POST))
    for (let i = 0; i < 640 && !client.closed(); i++) {
      client.send(frame(CONTINUATION, 0, 1, block(Array.from({ length: 100 }, () => ['x', 'y'.repeat(120)]))))
      await new Promise(resolve => setImmediate(resolve))
    }
    await until('the end of the session', client.closed)
    expect(opened()).toBe(0)
  })
})

describe('floods', () => {
  const floods: [string, (client: Client) => void][] = [
    ['PING', client => client.send(many(50_000, () => frame(PING, 0, 0, Buffer.alloc(8))))],
    [
      'SETTINGS',
      client => client.send(many(50_000, i => frame(SETTINGS, 0, 0, setting(4, 65_535 + (i & 7))))),
    ],
    ['empty SETTINGS', client => client.send(many(50_000, () => frame(SETTINGS, 0, 0)))],
    [
      'empty DATA',
      client =>
        client.send(
          frame(HEADERS, END_HEADERS, 1, POST),
          many(50_000, () => frame(DATA, 0, 1)),
        ),
    ],
    [
      'padded DATA without content',
      client =>
        client.send(
          frame(HEADERS, END_HEADERS, 1, POST),
          many(6000, () => frame(DATA, 8, 1, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]))),
        ),
    ],
    [
      'DATA of one byte',
      client =>
        client.send(
          frame(HEADERS, END_HEADERS, 1, POST),
          many(60_000, () => frame(DATA, 0, 1, Buffer.from('x'))),
          many(60_000, () => frame(DATA, 0, 1, Buffer.from('x'))),
          many(120_000, () => frame(WINDOW_UPDATE, 0, 0, u32(1))),
        ),
    ],
    [
      'PRIORITY',
      client => client.send(many(120_000, i => frame(PRIORITY, 0, 1 + 2 * i, Buffer.from([0, 0, 0, 0, 16])))),
    ],
    ['WINDOW_UPDATE', client => client.send(many(120_000, () => frame(WINDOW_UPDATE, 0, 0, u32(1))))],
    ['unknown frames', client => client.send(many(150_000, () => frame(0x55, 0, 0)))],
    ['WINDOW_UPDATE of nothing', client => client.send(many(10, () => frame(WINDOW_UPDATE, 0, 0, u32(0))))],
    [
      '50 000 tiny fields',
      client => {
        client.send(frame(HEADERS, 0, 1, POST))
        for (let i = 0; i < 50; i++) {
          const fields = Array.from({ length: 1000 }, () => ['a', 'b'] as const)
          client.send(frame(CONTINUATION, i === 49 ? END_HEADERS : 0, 1, block(fields)))
        }
      },
    ],
  ]
  it.each(floods)('of %s end the session; others are served', async (_name, flood) => {
    const { port, url, opened } = await counted()
    const client = frameClient(port)
    await until('the greeting', () => client.frames.length > 0)
    flood(client)
    await until('the end of the session', client.closed)
    expect(opened()).toBeLessThanOrEqual(1)
    expect((await request2(session2(url), { ':path': '/' })).status).toBe(200)
  })

  it('slow PINGs and SETTINGS are counted, too', async () => {
    const { port } = await counted('h2c', { http2: { controlFrames: 20 } })
    const client = frameClient(port)
    for (let i = 0; i < 200 && !client.closed(); i++) {
      client.send(i % 2 ? frame(PING, 0, 0, Buffer.alloc(8)) : frame(SETTINGS, 0, 0))
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    await until('the end of the session', client.closed)
    expect(goaways(client)).toContain(CALM)
  })

  it('streams that a client makes the edge reset are counted (MadeYouReset)', async () => {
    const { port, opened } = await counted('h2c', { http2: { resets: 20 } })
    const client = frameClient(port)
    for (let i = 0; i < 200 && !client.closed(); i++) {
      const id = 1 + 2 * i
      client.send(frame(HEADERS, END_HEADERS, id, POST), frame(WINDOW_UPDATE, 0, id, u32(0)))
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    await until('the end of the session', client.closed)
    expect(opened()).toBeLessThan(100)
  })
})

describe('limits', () => {
  it('streams at a time: more are refused, and nothing of them reaches the app', async () => {
    const { port, opened } = await counted('h2c', { http2: { streams: 10 } })
    const client = frameClient(port)
    await until('the settings', () => client.frames.some(one => one.type === SETTINGS && one.flags === ACK))
    const told = client.frames.find(one => one.type === SETTINGS && one.flags === 0)!.payload
    expect(told.includes(setting(3, 10))).toBe(true)
    client.send(many(50, i => frame(HEADERS, END_HEADERS, 1 + 2 * i, POST)))
    // It knows the limit and breaks it: that is an error of the connection.
    await until('the refusal', () => goaways(client).length > 0)
    expect(opened()).toBe(10)
  })

  it('the default is 128, from the first packet on', async () => {
    const { port, opened } = await counted()
    const client = frameClient(port)
    client.send(many(500, i => frame(HEADERS, END_HEADERS, 1 + 2 * i, POST)))
    await until('the refusals', () => goaways(client).length > 0 || resets(client).length >= 372)
    expect(opened()).toBeLessThanOrEqual(128)
  })

  it.each([
    [30_000, 200],
    [34_000, 431],
    [60_000, 431],
  ])('%i bytes of fields are %i', async (bytes, status) => {
    const { url, opened } = await counted()
    const fields: Record<string, string> = {}
    for (let i = 0; i * 1000 < bytes; i++)
      fields[`x-${i}`] = 'v'.repeat(Math.min(1000, bytes - i * 1000) - 36)
    const got = await request2(session2(url), { ':path': '/', ...fields })
    // Node may refuse the largest by itself: the stream is reset then.
    expect([status, 0]).toContain(got.status)
    if (got.status === 0) expect(got.code).toBe(CALM)
    expect(opened()).toBe(status === 200 ? 1 : 0)
  })

  it('many repeated references to one large field (HPACK bomb)', async () => {
    const { port, opened } = await counted()
    const client = frameClient(port)
    // One field of 4000 bytes into the table, then 4000 references to it.
    const large = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 0x62)])
    client.send(
      frame(HEADERS, 0, 1, Buffer.concat([POST, large])),
      frame(CONTINUATION, END_HEADERS, 1, Buffer.alloc(4000, 0xbe)),
    )
    await until('the refusal', () => client.closed() || client.frames.some(one => one.type === RST_STREAM))
    expect(opened()).toBe(0)
  })

  it('an ordinary client does ordinary things', async () => {
    const { url, opened } = await counted()
    const session = session2(url)
    for (let i = 0; i < 30; i++) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => request2(session, { ':path': '/' })))
      expect(replies.every(one => one.status === 200)).toBe(true)
      await new Promise(resolve => session.ping(resolve))
    }
    expect(opened()).toBe(600)
    expect(session.closed).toBe(false)
  })

  it('options that cannot work are refused', () => {
    const app = pipeline().handle(() => reply(200))
    const refused =
      (http2: object): (() => unknown) =>
      () =>
        attach(createServer(), app, { http2 })
    expect(refused({ streams: 0 })).toThrow(ConfigError)
    expect(refused({ headerListSize: 10 })).toThrow(/headerListSize/)
    expect(refused({ resets: 1.5 })).toThrow(/resets/)
    expect(refused({ stream: 1 })).toThrow(/no such option/)
  })
})
