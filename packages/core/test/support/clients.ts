/** Clients that send exactly what they are told. */
import {
  type ClientHttp2Session,
  connect as connectH2,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'

/** One response of HTTP/1.1, as read from the wire. */
export interface RawReply {
  status: number
  head: string
  raw: string[]
  body: string
}

/** Sends bytes on one connection and collects everything until it closes, or is silent for `quiet` ms after bytes. */
export function exchangeBytes(
  port: number,
  bytes: string | Buffer,
  quiet = 150,
): Promise<{ text: string; closed: boolean; reset: boolean }> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let reset = false
    let timer = setTimeout(() => finish(false), 15_000)
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, closed, reset })
    }
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), quiet)
    })
    socket.on('error', () => {
      reset = true
    })
    socket.on('close', () => finish(true))
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  })
}

/** One request of HTTP/1.1 from raw text, and its answer. */
export async function raw1(
  port: number,
  text: string,
): Promise<RawReply & { closed: boolean; reset: boolean }> {
  const { text: got, closed, reset } = await exchangeBytes(port, text)
  const end = got.indexOf('\r\n\r\n')
  const head = got.slice(0, end)
  const raw = head
    .split('\r\n')
    .slice(1)
    .flatMap(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  return { status: Number(head.slice(9, 12)), head, raw, body: got.slice(end + 4), closed, reset }
}

/** `GET` of a raw target with extra header lines. */
export function get1(
  port: number,
  target: string,
  lines: readonly string[] = [],
  host = 'edge.test',
): ReturnType<typeof raw1> {
  return raw1(
    port,
    [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...lines, 'Connection: close', '', ''].join('\r\n'),
  )
}

/** A connection that stays open for the test. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

/** A TLS connection for HTTP/1.1 that stays open for the test. */
export function openTls(port: number): Promise<TLSSocket> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  return new Promise(resolve => socket.once('secureConnect', () => resolve(socket)))
}

/** An HTTP/2 session that ends with the test. */
export function session2(url: string): ClientHttp2Session {
  const session = connectH2(url, { rejectUnauthorized: false })
  session.on('error', () => {})
  onTestFinished(() => {
    session.destroy()
  })
  return session
}

/** One answer over HTTP/2. `code` is the code of the reset, 0 for a clean end. */
export interface Reply2 {
  status: number
  headers: IncomingHttpHeaders
  raw: string[]
  body: string
  code: number
}

/** One request over HTTP/2. */
export function request2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Reply2> {
  return new Promise(resolve => {
    const stream = session.request(
      { ':authority': 'edge.test', ...headers },
      { endStream: body === undefined },
    )
    const reply: Reply2 = { status: 0, headers: {}, raw: [], body: '', code: 0 }
    stream.on('response', (received, _flags, raw?: string[]) => {
      reply.headers = received
      reply.status = received[':status'] ?? 0
      reply.raw = raw ?? []
    })
    stream.setEncoding('latin1')
    stream.on('data', chunk => {
      reply.body += chunk
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve({ ...reply, code: stream.rstCode }))
    if (body !== undefined) stream.end(body)
  })
}
