/** Real servers for journeys: an edge on any of its transports, and origins that show what reached them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createH2c, createSecureServer } from 'node:http2'
import { createServer as createSecureHttp1 } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net'
import { onTestFinished } from 'vitest'
import {
  type App,
  type Attached,
  type AttachOptions,
  attach,
  pipeline,
  proxy,
  type UpstreamOptions,
  upstream,
} from '../../src/index.ts'
import { certificate } from './certificate.ts'

/** What an origin saw of one request. */
export interface Seen {
  method: string
  target: string
  raw: string[]
  body: Buffer
}

/** First value of a field in a raw list. */
export function field(raw: readonly string[], name: string): string | undefined {
  return fields(raw, name)[0]
}

/** All values of a field in a raw list. */
export function fields(raw: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (raw[i]!.toLowerCase() === name) values.push(raw[i + 1]!)
  return values
}

/** A node:http origin. `answer` gets the request once its body is whole. */
export async function origin(
  answer: (res: ServerResponse, seen: Seen, req: IncomingMessage) => void = (res, seen) => res.end(seen.body),
): Promise<{ url: string; seen: Seen[]; server: Server }> {
  const seen: Seen[] = []
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => {
      const one = { method: req.method!, target: req.url!, raw: req.rawHeaders, body: Buffer.concat(chunks) }
      seen.push(one)
      answer(res, one, req)
    })
  })
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, seen, server }
}

/** An origin of raw bytes: what it got, and full control over what it says. */
export async function rawOrigin(onConnection: (socket: Socket, received: () => string) => void): Promise<{
  url: string
  port: number
  received: () => string
  closed: () => number
  server: TcpServer
  sockets: Set<Socket>
}> {
  let text = ''
  let closed = 0
  const sockets = new Set<Socket>()
  const server = createTcp(socket => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      closed++
    })
    socket.on('error', () => {})
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    onConnection(socket, () => text)
  })
  const port = await listen(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received: () => text,
    closed: () => closed,
    server,
    sockets,
  }
}

/** A raw origin that gives the same bytes to every head. */
export function scripted(bytes: string | Buffer, then?: 'end' | 'reset'): ReturnType<typeof rawOrigin> {
  return rawOrigin(socket => {
    socket.on('data', chunk => {
      if (!chunk.includes('\r\n\r\n')) return
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
        if (then === 'end') socket.end()
        else if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 20)
      })
    })
  })
}

export type Kind = 'http' | 'https' | 'h2' | 'h2c'

/** Journeys run on the wire with `POSTERN_TRANSPORT=wire`, else on node:http. */
export const onWire: boolean = process.env.POSTERN_TRANSPORT === 'wire'

/** An edge in front of an app. `h2` is secure with HTTP/1.1 allowed. */
export async function edge(
  app: App,
  kind: Kind = 'http',
  options: AttachOptions = {},
): Promise<{ port: number; url: string; attached: Attached; server: TcpServer }> {
  const { key, cert } = certificate()
  const server =
    kind === 'http'
      ? createServer()
      : kind === 'https'
        ? createSecureHttp1({ key, cert })
        : kind === 'h2'
          ? createSecureServer({ key, cert, allowHTTP1: true })
          : createH2c()
  const attached = attach(server as TcpServer, app, { wire: onWire, ...options })
  const port = await listen(server as TcpServer)
  onTestFinished(() => attached.drain(0))
  const scheme = kind === 'http' || kind === 'h2c' ? 'http' : 'https'
  return { port, url: `${scheme}://127.0.0.1:${port}`, attached, server: server as TcpServer }
}

/** An edge that only proxies. */
export async function proxyEdge(
  target: string,
  kind: Kind = 'http',
  options: Partial<UpstreamOptions> = {},
): ReturnType<typeof edge> {
  return edge(pipeline().handle(proxy(testUpstream(target, options))), kind)
}

/** What speaks HTTP/1.1 to upstreams: the default, unless a run asks for the other one. */
export const HTTP1: 'wire' | 'undici' = process.env.POSTERN_TEST_HTTP1 === 'undici' ? 'undici' : 'wire'

/** An upstream that ends with the test. */
export function testUpstream(
  target: string | string[],
  options: Partial<UpstreamOptions> = {},
): ReturnType<typeof upstream> {
  const group = upstream({ name: 'test', targets: [target].flat(), http1: HTTP1, ...options })
  onTestFinished(() => group.destroy())
  return group
}

export function listen(server: TcpServer, host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Waits until `test` is true; a named failure after two seconds, or as long as given. */
export async function until(what: string, test: () => boolean, most = 2000): Promise<void> {
  for (let i = 0; i < most / 5; i++) {
    if (test()) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error(`it did not happen: ${what}`)
}
