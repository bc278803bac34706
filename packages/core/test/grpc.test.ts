/** gRPC through an edge, with a real client and a real server: statuses, trailers, streams, deadlines. */
import { describe, expect, it } from 'vitest'
import { pipeline, proxy, reply } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { answer, ask, END_HEADERS, END_STREAM, frameClient, frameOrigin, HEADERS } from './support/frames.ts'
import { EchoClient, grpcOrigin, Metadata, status } from './support/grpc.ts'
import { edge, proxyEdge, testUpstream, until } from './support/servers.ts'

/** Edge and upstream, each with and without TLS. */
const ways = [
  ['h2c', 'h2c'],
  ['h2', 'h2'],
] as const

describe.each(ways)('edge on %s, upstream on %s', (front, back) => {
  async function start(): Promise<{ client: EchoClient; cancelled: () => number }> {
    const up = await grpcOrigin(back === 'h2')
    const url = `${back === 'h2' ? 'https' : 'http'}://127.0.0.1:${up.port}`
    const group = testUpstream(url, { protocol: back, tls: { ca: certificate().cert } })
    const { port } = await edge(pipeline().handle(proxy(group)), front)
    return { client: new EchoClient(port, front === 'h2'), cancelled: up.cancelled }
  }

  it('unary: message, head metadata and trailers', async () => {
    const { client } = await start()
    const metadata = new Metadata()
    metadata.add('x-a', '1')
    metadata.add('x-a', '2')
    const got = await client.unary('hello', metadata)
    expect([got.text, got.code]).toEqual(['hello', status.OK])
    expect(got.head.get('x-a').join(', ')).toBe('1, 2')
    expect(got.trailers.get('x-trailer')).toEqual(['last'])
    expect(got.trailers.get('x-bytes-bin')).toEqual([Buffer.from([0, 255, 1])])
  })

  it('B013: failures keep status, text and trailers', async () => {
    const { client } = await start()
    for (const code of [
      status.PERMISSION_DENIED,
      status.NOT_FOUND,
      status.INTERNAL,
      status.UNAUTHENTICATED,
    ]) {
      const got = await client.unary(`fail:${code}`)
      expect([got.code, got.details]).toEqual([code, 'as asked: ü'])
      expect(got.trailers.get('x-trailer')).toEqual(['last'])
    }
  })

  it('a stream of the server, many messages in order', async () => {
    const { client } = await start()
    const call = client.download(2000)
    const got: string[] = []
    call.on('data', (message: Buffer) => got.push(message.toString()))
    const end = await new Promise<{ code: number }>(resolve => call.on('status', resolve))
    expect(end.code).toBe(status.OK)
    expect(got).toEqual(Array.from({ length: 2000 }, (_, i) => `message ${i}`))
  })

  it('a stream of the client', async () => {
    const { client } = await start()
    const messages = Array.from({ length: 50 }, () => Buffer.alloc(20_000, 1))
    expect(await client.upload(messages)).toBe(String(50 * 20_000))
  })

  it('B014: both ways at once, in lock step', async () => {
    const { client } = await start()
    const call = client.chat()
    const got: string[] = []
    let ended: { code: number } | null = null
    call.on('data', (message: Buffer) => got.push(message.toString()))
    call.on('status', one => {
      ended = one
    })
    await new Promise(resolve => call.once('metadata', resolve))
    for (let i = 0; i < 20; i++) {
      call.write(Buffer.from(`m${i}`))
      await until(`answer ${i}`, () => got.length === i + 1)
    }
    call.end()
    await until('the end', () => ended !== null)
    expect(ended!.code).toBe(status.OK)
  })

  it('a deadline cancels the call at the server', async () => {
    const { client, cancelled } = await start()
    expect((await client.unary('sleep', new Metadata(), 1500)).code).toBe(status.DEADLINE_EXCEEDED)
    await until('the cancellation', () => cancelled() === 1)
  })

  it('B005: a cancelled stream is cancelled at the server', async () => {
    const { client, cancelled } = await start()
    const call = client.chat()
    call.on('error', () => {})
    call.on('data', () => call.cancel())
    call.write(Buffer.from('x'))
    await until('the cancellation', () => cancelled() === 1)
  })

  it('many calls at once', async () => {
    const { client } = await start()
    const calls = await Promise.all(Array.from({ length: 300 }, (_, i) => client.unary(`n${i}`)))
    expect(calls.map(one => one.text)).toEqual(Array.from({ length: 300 }, (_, i) => `n${i}`))
    expect(calls.every(one => one.code === status.OK)).toBe(true)
  })
})

it('B013: trailers-only stays one HEADERS frame with END_STREAM', async () => {
  const up = await frameOrigin((one, socket) => {
    if (one.type !== HEADERS) return
    const fields = [
      ['content-type', 'application/grpc'],
      ['grpc-status', '7'],
    ] as const
    socket.write(answer(one.stream, 200, fields, END_HEADERS | END_STREAM))
  })
  const { port } = await proxyEdge(up.url, 'h2c', { protocol: 'h2c' })
  const client = frameClient(port)
  client.send(ask(1, [['content-type', 'application/grpc']], END_HEADERS | END_STREAM))
  await until('the answer', () => client.frames.some(one => one.stream === 1))
  const frames = client.frames.filter(one => one.stream === 1)
  expect(frames.map(one => [one.type, one.flags & END_STREAM])).toEqual([[HEADERS, END_STREAM]])
})

describe('failures of the edge, as gRPC clients read them', () => {
  it('nobody behind the edge is UNAVAILABLE', async () => {
    const { port } = await proxyEdge('http://127.0.0.1:1', 'h2c', { protocol: 'h2c' })
    const got = await new EchoClient(port, false).unary('x')
    expect(got.code).toBe(status.UNAVAILABLE)
    expect(got.details).toContain('502')
  })

  it.each([
    [401, status.UNAUTHENTICATED],
    [403, status.PERMISSION_DENIED],
    [404, status.UNIMPLEMENTED],
    [429, status.UNAVAILABLE],
    [503, status.UNAVAILABLE],
    [413, status.UNKNOWN],
  ])('%i of a gate is status %i', async (http, code) => {
    const { port } = await edge(
      pipeline().handle(() => reply(http)),
      'h2c',
    )
    expect((await new EchoClient(port, false).unary('x')).code).toBe(code)
  })

  it('an upstream that breaks off is INTERNAL or UNAVAILABLE, never OK', async () => {
    const up = await frameOrigin((one, socket) => {
      if (one.type !== HEADERS) return
      socket.write(answer(one.stream, 200, [['content-type', 'application/grpc']]))
      setTimeout(() => socket.end(), 20)
    })
    const { port } = await proxyEdge(up.url, 'h2c', { protocol: 'h2c' })
    const got = await new EchoClient(port, false).unary('x')
    expect([status.INTERNAL, status.UNAVAILABLE]).toContain(got.code)
  })
})
