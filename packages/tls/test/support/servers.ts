/** Real servers and clients for journeys. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectH2, createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type App, attach } from '@postern/core'
import { onTestFinished } from 'vitest'
import {
  type CertificateStore,
  type CertificatesOptions,
  certificates,
  type TlsEvent,
} from '../../src/index.ts'

/** A store that ends with the test, and its events. */
export async function store(
  options: CertificatesOptions,
): Promise<{ tls: CertificateStore; events: TlsEvent[] }> {
  const events: TlsEvent[] = []
  const tls = await certificates({ watch: 0, log: event => events.push(event), ...options })
  onTestFinished(() => tls.close())
  return { tls, events }
}

/** An HTTPS server (h2 and h1) in front of an app, protected by a store. */
export async function secureEdge(
  tls: CertificateStore,
  app: App,
  more: object = {},
): Promise<{ port: number; server: Http2SecureServer }> {
  const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true, ...more })
  const attached = attach(server as unknown as TcpServer, app)
  tls.protect(server as unknown as TcpServer)
  const port = await listen(server as unknown as TcpServer)
  onTestFinished(() => attached.drain(0))
  return { port, server }
}

export async function listen(server: TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A client that has shaken hands. With `tickets`, it waits for one. */
export interface Client {
  socket: TLSSocket
  session: Buffer | null
  /** Bytes until the other side closes. */
  rest(): Promise<string>
}

/** Shakes hands; rejects when that fails. */
export function client(port: number, options: ConnectionOptions = {}, ticket = false): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    const made: Client = { socket, session: null, rest: () => restOf(socket) }
    socket.on('error', reject)
    socket.on('session', session => {
      made.session = session
      if (ticket) resolve(made)
    })
    socket.once('secureConnect', () => {
      if (!ticket) resolve(made)
    })
    socket.once('close', () => reject(new Error('closed before a ticket came')))
    onTestFinished(() => {
      socket.destroy()
    })
  })
}

/** One HTTP/1.1 request on its own connection: status and text, or `closed` when nothing came. */
export async function get1(
  port: number,
  host: string,
  options: ConnectionOptions = {},
  path = '/',
  lines = '',
): Promise<string> {
  try {
    const made = await client(port, { servername: host, ALPNProtocols: ['http/1.1'], ...options })
    made.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines}\r\n`)
    const text = await made.rest()
    if (text === '') return 'closed'
    return `${text.split(' ')[1]} ${text.split('\r\n\r\n')[1] ?? ''}`.trim()
  } catch {
    return 'closed'
  }
}

/** Requests on one HTTP/2 session: `status text` each, or `closed`. */
export async function get2(
  port: number,
  servername: string,
  requests: Record<string, string | string[]>[],
  options: ConnectionOptions = {},
): Promise<string[]> {
  const session = connectH2(`https://${servername}:${port}`, {
    createConnection: () =>
      connect({
        host: '127.0.0.1',
        port,
        servername,
        ALPNProtocols: ['h2'],
        rejectUnauthorized: false,
        ...options,
      }),
  })
  session.on('error', () => {})
  const answers: string[] = []
  for (const request of requests) {
    answers.push(
      await new Promise<string>(resolve => {
        const stream = session.request({ ':path': '/', ...request })
        let status = 0
        let text = ''
        stream.on('response', head => {
          status = Number(head[':status'])
        })
        stream.setEncoding('utf8')
        stream.on('data', chunk => {
          text += chunk
        })
        stream.on('error', () => {})
        stream.on('close', () => resolve(status === 0 ? 'closed' : `${status} ${text}`.trim()))
      }),
    )
  }
  session.destroy()
  return answers
}

export function restOf(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.resume()
  })
}

/** A folder that goes with the test. */
export function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'postern-tls-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return dir
}

/** Waits until `test` is true; a named failure after ten seconds. */
export async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (await test()) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`it did not happen: ${what}`)
}
