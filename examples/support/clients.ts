/** Clients that need nothing but Node. Certificates are not checked: each example makes its own. */
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:http2'
import { request as httpsRequest } from 'node:https'

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** One request over HTTP/1.1, on a connection of its own. */
export async function ask1(url: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  const options = { method, headers, agent: false, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }
  const sent = request(url, options)
  sent.end(body)
  const [reply] = await once(sent, 'response')
  return { status: reply.statusCode, headers: reply.headers, text: await textOf(reply) }
}

/** One request over HTTP/2, on a session of its own. */
export async function ask2(url: string, ask: Ask = {}): Promise<Answer> {
  const [answer] = await burst2(url, 1, ask)
  return answer!
}

/** The same request many times at once, on one session of HTTP/2. */
export async function burst2(url: string, count: number, ask: Ask = {}): Promise<Answer[]> {
  const { origin, pathname, search } = new URL(url)
  const session = connect(origin, { rejectUnauthorized: false })
  const { method = 'GET', headers = {}, body } = ask
  async function once2(): Promise<Answer> {
    const stream = session.request({ ':method': method, ':path': pathname + search, ...headers })
    stream.end(body)
    const [head] = await once(stream, 'response')
    return { status: head[':status'], headers: head, text: await textOf(stream) }
  }
  try {
    return await Promise.all(Array.from({ length: count }, once2))
  } finally {
    session.close()
  }
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
