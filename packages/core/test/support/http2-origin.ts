/** Origins of HTTP/2 on node:http2, plain and secure. */
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'
import { certificate } from './certificate.ts'
import { listen } from './servers.ts'

/** What an HTTP/2 origin shows. */
export interface Origin2 {
  url: string
  port: number
  sessions: Set<ServerHttp2Session>
  /** Sessions ever opened. */
  opened: () => number
  server: Http2Server
}

/** An origin that gives each stream to `onStream`. `kind` is how it is spoken to. */
export async function origin2(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void,
  kind: 'h2' | 'h2c' = 'h2c',
  options: ServerOptions = {},
): Promise<Origin2> {
  const server = kind === 'h2' ? createSecureServer({ ...certificate(), ...options }) : createServer(options)
  const sessions = new Set<ServerHttp2Session>()
  let opened = 0
  server.on('session', (session: ServerHttp2Session) => {
    opened++
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
      stream.on('error', () => {})
      onStream(stream, headers, raw)
    },
  )
  const port = await listen(server as unknown as Server)
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const scheme = kind === 'h2' ? 'https' : 'http'
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    sessions,
    opened: () => opened,
    server: server as Http2Server,
  }
}

/** Reads a stream to its end. */
export function bodyOf(stream: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    stream.on('data', chunk => chunks.push(chunk))
    stream.on('end', () => resolve(Buffer.concat(chunks)))
    stream.on('error', reject)
  })
}
