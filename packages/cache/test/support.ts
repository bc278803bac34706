/** A caching edge in front of an origin, and clients. */
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline, proxy } from '@postern/core'
import { onTestFinished } from 'vitest'
import { edge, origin, type Seen, testUpstream } from '../../core/test/support/servers.ts'
import { type Cache, type CacheOptions, cache } from '../src/index.ts'

export { until } from '../../core/test/support/servers.ts'

export interface Got {
  status: number
  headers: IncomingMessage['headers']
  body: string
  interim: number[]
  /** The connection broke before the body was whole. */
  broken: boolean
}

export interface Setup {
  port: number
  seen: Seen[]
  store: Cache
  get(path: string, headers?: Record<string, string>, method?: string, body?: string): Promise<Got>
}

export type Answer = (res: ServerResponse, seen: Seen, req: IncomingMessage) => void

/** An edge with a cache in front of an origin that answers so. */
export async function cachingEdge(
  answer: Answer,
  options: CacheOptions = {},
  upstream: Parameters<typeof testUpstream>[1] = {},
): Promise<Setup> {
  const { url, seen } = await origin(answer)
  const store = cache(options)
  const app = pipeline()
    .wrap(store)
    .handle(proxy(testUpstream(url, { connections: 1500, ...upstream }), { retry: false }))
  const { port } = await edge(app)
  const agent = new Agent({ keepAlive: true, maxSockets: 2000 })
  onTestFinished(() => agent.destroy())
  return {
    port,
    seen,
    store,
    get: (path, headers = {}, method = 'GET', body) => fetchFrom(agent, port, path, headers, method, body),
  }
}

function fetchFrom(
  agent: Agent,
  port: number,
  path: string,
  headers: Record<string, string>,
  method: string,
  body: string | undefined,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const interim: number[] = []
    const req = request({
      agent,
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { host: 'edge.test', ...(body && { 'content-length': String(body.length) }), ...headers },
    })
    req.on('information', info => interim.push(info.statusCode))
    // After the head, the body's end tells more; by then this has no effect.
    let headed = false
    req.on('error', error => headed || reject(error))
    req.on('response', res => {
      headed = true
      let text = ''
      res.setEncoding('latin1')
      res.on('data', chunk => {
        text += chunk
      })
      res.on('error', () => {})
      res.on('close', () =>
        resolve({
          status: res.statusCode!,
          headers: res.headers,
          body: text,
          interim,
          broken: !res.complete,
        }),
      )
    })
    req.end(body)
  })
}

/** A client whose reply is read by hand. */
export function openReply(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ res: IncomingMessage; leave(): void }> {
  return new Promise((resolve, reject) => {
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      headers: { host: 'edge.test', ...headers },
      agent: false,
    })
    req.on('error', reject)
    req.on('response', res => {
      res.on('error', () => {})
      resolve({ res, leave: () => req.destroy() })
    })
    req.end()
    onTestFinished(() => {
      req.destroy()
    })
  })
}

/** A client that leaves before it is answered; settles when it has gone. */
export function leavingClient(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): { leave(): void } {
  const req = request({
    host: '127.0.0.1',
    port,
    path,
    headers: { host: 'edge.test', ...headers },
    agent: false,
  })
  req.on('error', () => {})
  req.end()
  return { leave: () => req.destroy() }
}

export const turn = (ms = 20): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
