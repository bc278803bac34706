/** HTTP/2 over node:http2's stream API (RFC 9113): one stream in, one reply out. */
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { ProxyError } from '../../errors.ts'
import { judgeHead, makePeer } from '../../headers/head.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Peer, Source } from '../../pipeline/contract.ts'
import { Http2Link } from './link2.ts'
import { RequestBody } from './request-body.ts'
import type { Serving } from './serving.ts'
import { StreamSet } from './stream-set.ts'
import { noNewTunnels } from './upgrade1.ts'
import { ConnectLink } from './upgrade2.ts'

const SESSION = Symbol('session')

/** What is kept of a session. */
interface Session2 {
  readonly peer: Peer
  readonly links: StreamSet
}

type Owner = ServerHttp2Session & { [SESSION]?: Session2 }

/** What a stream may bring besides itself. */
export interface StreamExtras {
  /** The target that the app sees; default `:path`. */
  readonly target?: string | undefined
  /** Replaces a body that was read before. */
  readonly given?: Source | null
  /** Why the request is refused before any gate. */
  readonly fault?: ProxyError | null
}

const NO_EXTRAS: StreamExtras = {}

/** Answers one stream of an HTTP/2 session with an app. */
export function serveHttp2(
  serving: Serving,
  stream: ServerHttp2Stream,
  pseudo: IncomingHttpHeaders,
  raw: readonly string[],
  extras: StreamExtras = NO_EXTRAS,
): void {
  const { session } = stream
  if (!session || stream.destroyed) return
  const { peer, links } = sessionOf(session as ServerHttp2Session)
  const headers = new HeaderList(raw.slice(2 * pseudoCount(raw)))
  const judged = judgeHead(
    {
      // Gates and routes see an extended CONNECT as the GET with `Upgrade` that it replaces (RFC 8441, 5).
      method: pseudo[':protocol'] === undefined ? (pseudo[':method'] ?? '') : 'GET',
      target: extras.target ?? pseudo[':path'] ?? (pseudo[':method'] === 'CONNECT' ? '*' : ''),
      version: '2.0',
      headers,
      peer,
      authority: pseudo[':authority'],
      protocol: pseudo[':protocol'] as string | undefined,
    },
    serving.app.trusts,
  )
  const { head } = judged
  const fault = links.isTooLarge(raw) ? headTooLarge() : judged.fault
  if (head.upgrade !== null) {
    const connect = new ConnectLink(serving, stream, links)
    const refusal = extras.fault ?? fault ?? noNewTunnels(serving)
    connect.begin(serving.app.open(head, null, connect, refusal))
    return
  }
  const given = extras.given ?? null
  let body: RequestBody | null = null
  let refusal = extras.fault ?? fault
  const expectation = pseudo.expect
  const waits = expectation?.toLowerCase() === '100-continue'
  if (expectation !== undefined && !waits) refusal ??= expectationFailed()
  if (given === null && !stream.readableEnded && !stream.endAfterHeaders) {
    const beforeStart = waits ? () => sendContinue(stream) : null
    body = new RequestBody(stream, lengthOf(headers), beforeStart, serving.guard)
  }
  // Where the body looks for them when it has ended, as with node:http.
  if (body) stream.once('trailers', (...[, , raw]: unknown[]) => Object.assign(stream, { rawTrailers: raw }))
  const link = new Http2Link(serving, stream, head.method, body, links)
  link.begin(serving.app.open(head, given ?? body, link, refusal))
}

/** An `Expect` that is not 100-continue (RFC 9110, 10.1.1). */
export function expectationFailed(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'expectation-failed' })
}

function headTooLarge(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'head', code: 'head-too-large' })
}

/** True while a stream of the session is being answered. */
export function hasStreams(session: ServerHttp2Session): boolean {
  return ((session as Owner)[SESSION]?.links.size ?? 0) > 0
}

function sessionOf(session: ServerHttp2Session): Session2 {
  const owner = session as Owner
  const known = owner[SESSION]
  if (known) return known
  const made: Session2 = {
    peer: makePeer(session.socket as unknown as Parameters<typeof makePeer>[0]),
    links: StreamSet.of(session),
  }
  owner[SESSION] = made
  // A stream whose upload nobody reads any more does not hear of it by itself.
  session.once('close', () => {
    for (const link of made.links) link.closed()
  })
  return made
}

function sendContinue(stream: ServerHttp2Stream): void {
  if (stream.headersSent || stream.destroyed || stream.closed) return
  // The compatibility API, which the host may use, has sent its own.
  if (stream.sentInfoHeaders?.some(sent => sent[':status'] === 100)) return
  stream.additionalHeaders({ ':status': 100 })
}

function pseudoCount(raw: readonly string[]): number {
  let count = 0
  while (raw[2 * count]?.startsWith(':')) count++
  return count
}

function lengthOf(headers: HeaderList): number | null {
  const length = headers.get('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null
}
