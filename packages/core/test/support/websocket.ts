/** WebSockets for journeys: real servers of `ws`, clients over HTTP/1.1 and over HTTP/2. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2'
import { onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { origin2 } from './http2-origin.ts'
import { listen } from './servers.ts'

/** What a WebSocket origin shows. */
export interface SocketOrigin {
  url: string
  sockets: Set<WebSocket>
  /** Heads of the handshakes, as raw lists. */
  heads: string[][]
  /** Close codes, in order. */
  closes: number[]
}

/** Echoes messages; says `hello` at once when the path is `/hello`; takes only the subprotocol `v1`. */
export async function socketOrigin(): Promise<SocketOrigin> {
  const server = createServer((_req, res) => res.writeHead(404).end('plain'))
  const sockets = new Set<WebSocket>()
  const heads: string[][] = []
  const closes: number[] = []
  const wss = new WebSocketServer({
    server,
    perMessageDeflate: true,
    handleProtocols: offered => (offered.has('v1') ? 'v1' : false),
  })
  wss.on('connection', (socket, req) => {
    sockets.add(socket)
    heads.push(req.rawHeaders)
    if (req.url?.startsWith('/hello')) socket.send('hello')
    socket.on('error', () => {})
    socket.on('message', (data, binary) => socket.send(data, { binary }))
    socket.on('close', code => {
      sockets.delete(socket)
      closes.push(code)
    })
  })
  const port = await listen(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.terminate()
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, sockets, heads, closes }
}

/** An HTTP/2 origin that takes extended CONNECT and echoes the bytes of the stream. */
export async function connectOrigin(
  kind: 'h2' | 'h2c' = 'h2c',
): Promise<{ url: string; heads: string[][]; streams: Set<unknown>; codes: number[] }> {
  const heads: string[][] = []
  const streams = new Set<unknown>()
  const codes: number[] = []
  const up = await origin2(
    (stream, headers, raw) => {
      heads.push(raw)
      streams.add(stream)
      stream.on('close', () => {
        streams.delete(stream)
        codes.push(stream.rstCode)
      })
      if (headers[':protocol'] !== 'websocket') stream.respond({ ':status': 404 }, { endStream: true })
      else if (headers[':path'] === '/refuse') {
        stream.respond({ ':status': 403, 'x-why': 'no' })
        stream.end('refused')
      } else {
        stream.respond({ ':status': 200, 'sec-websocket-protocol': 'v1' })
        stream.pipe(stream)
      }
    },
    kind,
    { settings: { enableConnectProtocol: true } },
  )
  return { url: up.url, heads, streams, codes }
}

/** A client of `ws` that ends with the test. */
export function openWebSocket(
  url: string,
  protocols: string[] = [],
  options: object = {},
): WebSocket & { got: string[]; closed: number | null } {
  const socket = new WebSocket(url, protocols, { rejectUnauthorized: false, ...options })
  const kept = Object.assign(socket, { got: [] as string[], closed: null as number | null })
  socket.on('message', data => kept.got.push(data.toString()))
  socket.on('close', code => {
    kept.closed = code
  })
  socket.on('error', () => {})
  onTestFinished(() => socket.terminate())
  return kept
}

/** Opens a tunnel over HTTP/2. */
export async function connect2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
): Promise<{ stream: ClientHttp2Stream; status: number; headers: Record<string, unknown> }> {
  if (session.remoteSettings?.enableConnectProtocol !== true) await once(session, 'remoteSettings')
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':path': '/',
      ':authority': 'edge.test',
      'sec-websocket-version': '13',
      ...headers,
    },
    { endStream: false },
  )
  stream.on('error', () => {})
  const head = await new Promise<Record<string, unknown>>(resolve => {
    stream.once('response', resolve)
    stream.once('close', () => resolve({ ':status': 0 }))
  })
  return { stream, status: Number(head[':status']), headers: head }
}

/** A text frame of a client (RFC 6455, 5.2), masked with zeros. Up to 125 bytes. */
export function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])
}

export const HANDSHAKE = (path = '/', extra = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: edge.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n` +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${extra}\r\n`
