/** Requests in memory: the whole app without a socket, for tests. */
import { isSource, sourceOf } from '../body/transform.ts'
import { ProxyError } from '../errors.ts'
import { judgeHead, makePeer } from '../headers/head.ts'
import { HeaderList } from '../headers/list.ts'
import type {
  App,
  ClientLink,
  Flow,
  InjectedReply,
  InjectOptions,
  OpenExchange,
  Peer,
  Reply,
  Source,
} from '../pipeline/contract.ts'
import { bugReply } from '../reply.ts'
import { dropTunnel } from '../upgrade/drop.ts'
import { assertInterim, fitReply } from './fit-reply.ts'

/** Sends a request through an app and reads the reply to its end. Rejects when the reply's body breaks half-way. */
export async function inject(app: App, options: InjectOptions = {}): Promise<InjectedReply> {
  const link = new MemoryLink()
  const body = bodyOf(options.body)
  const method = options.method ?? (body ? 'POST' : 'GET')
  const { head, fault } = judgeHead(
    {
      method,
      target: options.path ?? '/',
      version: options.version ?? '1.1',
      headers: headersOf(options, body),
      peer: peerOf(options),
      upgradable: true,
      ...(options.version === '2.0' ? { authority: options.authority ?? 'localhost' } : {}),
    },
    app.trusts,
  )
  const exchange = app.open(head, body && link.counted(body), link, fault)
  let bug: Reply | null = null
  let given: Reply
  try {
    given = await exchange.run()
  } catch (cause) {
    given = bug = bugReply(cause)
  }
  const reply = fitReply(given, method)
  const failure = reply !== given || bug ? (reply.error ?? null) : null
  try {
    const { bytes, trailers } = await read(reply, method)
    exchange.done(reply.status, bytes.length, failure)
    return injected(reply, bytes, trailers, link, exchange)
  } catch (error) {
    exchange.done(reply.status, 0, error as ProxyError)
    throw error
  }
}

function peerOf({ address = '127.0.0.1', scheme }: InjectOptions): Peer {
  const server = { address: () => (address === '' ? '/memory' : null) }
  return makePeer({ remoteAddress: address, encrypted: scheme === 'https', server })
}

class MemoryLink implements ClientLink {
  readonly draining = false
  bytesReceived = 0
  readonly interim: { status: number; headers: HeaderList }[] = []

  inform(status: number, headers: HeaderList): void {
    assertInterim(status, headers)
    this.interim.push({ status, headers })
  }

  counted(source: Source): Source {
    return {
      length: source.length,
      start: sink =>
        source.start({
          write: bytes => {
            this.bytesReceived += bytes.length
            return sink.write(bytes)
          },
          end: trailers => sink.end(trailers),
          fail: error => sink.fail(error),
        }),
    }
  }
}

function injected(
  reply: Reply,
  body: Uint8Array,
  trailers: HeaderList | null,
  link: MemoryLink,
  exchange: OpenExchange,
): InjectedReply {
  return {
    status: reply.status,
    headers: reply.headers,
    body,
    trailers,
    interim: link.interim,
    outcome: exchange.outcome,
    text: () => new TextDecoder().decode(body),
    json: () => JSON.parse(new TextDecoder().decode(body)),
  }
}

function read(reply: Reply, method: string): Promise<{ bytes: Uint8Array; trailers: HeaderList | null }> {
  const { body } = reply
  if (body !== null && 'splice' in body) {
    // Memory has no two-way bytes: the handshake's answer is all that a test sees.
    dropTunnel(body, new ProxyError({ source: 'client', phase: 'tunnel', code: 'client-closed' }))
    return Promise.resolve({ bytes: new Uint8Array(0), trailers: null })
  }
  if (!isSource(body)) {
    const bytes = body instanceof Uint8Array && method !== 'HEAD' ? body : new Uint8Array(0)
    return Promise.resolve({ bytes, trailers: null })
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    body.start({
      write(bytes) {
        chunks.push(bytes)
        return true
      },
      end: trailers => resolve({ bytes: Buffer.concat(chunks), trailers: trailers ?? null }),
      fail: reject,
    })
  })
}

function headersOf(options: InjectOptions, body: Source | null): HeaderList {
  const { headers } = options
  const list = headers instanceof HeaderList ? headers.clone() : HeaderList.from(headers ?? {})
  if (options.version !== '2.0' && !list.has('host') && options.authority !== '') {
    list.raw.unshift('Host', options.authority ?? 'localhost')
  }
  if (body && !list.has('content-length') && !list.has('transfer-encoding')) {
    if (body.length === null) list.raw.push('Transfer-Encoding', 'chunked')
    else list.raw.push('Content-Length', String(body.length))
  }
  return list
}

function bodyOf(body: InjectOptions['body']): Source | null {
  if (body === undefined) return null
  if (typeof body === 'string') return sourceOf(Buffer.from(body))
  if (body instanceof Uint8Array) return sourceOf(body)
  return chunkSource(body)
}

/** One turn of the event loop a chunk, as a socket would give them. */
function chunkSource(chunks: readonly Uint8Array[]): Source {
  return {
    length: null,
    start(sink): Flow {
      let next = 0
      let running = true
      let over = false
      const step = (): void => {
        if (!running || over) return
        const chunk = chunks[next++]
        if (chunk === undefined) {
          over = true
          sink.end()
        } else if (sink.write(chunk)) setImmediate(step)
        else running = false
      }
      setImmediate(step)
      return {
        pause() {
          running = false
        },
        resume() {
          if (running) return
          running = true
          setImmediate(step)
        },
        cancel(error: ProxyError) {
          void error
          over = true
        },
      }
    },
  }
}
