/** A context from a literal: a gate alone is tested as `gate.onRequest(testContext({ path: '/x' }))`. */
import type { ProxyError } from '../errors.ts'
import { HeaderList } from '../headers/list.ts'
import { readTarget } from '../headers/target.ts'
import type { Context, Peer, RequestHead, Source } from '../pipeline/contract.ts'
import { bytesSource } from './source.ts'

/** What a test says of a request; everything else has a plain default. */
export interface TestHead<P extends object = object> {
  /** Default `GET`. */
  method?: string
  /** Target in origin-form, query allowed: `/x?y=1`; default `/`. The canonical path is made as for a real request. */
  path?: string
  /** Exactly these lines; none is added. Default none. */
  headers?: Readonly<Record<string, string | number | readonly string[]>> | HeaderList
  /** Default: the `Host` field if given, else `localhost`. */
  authority?: string
  /** Default `http`. */
  scheme?: 'http' | 'https'
  /** Default: the peer's address. */
  clientAddress?: string
  /** Default `1.1`. */
  version?: '1.0' | '1.1' | '2.0'
  /** Default `null`. */
  upgrade?: string | null
  /** Default: `127.0.0.1`, ports 50000 and 80, not encrypted unless the scheme is https. */
  peer?: Partial<Peer>
  /** Default false. */
  peerTrusted?: boolean
  /** Default none. Text and bytes become a source of that many chunks. */
  body?: string | Uint8Array | readonly Uint8Array[] | Source | null
  /** Default `{}`. */
  params?: P
  /** Default `*`. */
  route?: string
  /** Default false. */
  draining?: boolean
  /** Default: now. */
  startedAt?: number
}

/** A context with what a test wants to look at or do. */
export interface TestContext<S extends object = object, P extends object = object> extends Context<S, P> {
  /** Calls of `inform`, in order. */
  readonly informed: readonly { readonly status: number; readonly headers: HeaderList }[]
  /** Aborts `signal`, as if the client had gone. */
  abort(error: ProxyError): void
}

/**
 * Makes a context from a literal.
 * @example
 * const verdict = uriLength({ max: 10 }).onRequest?.(testContext({ path: '/much-too-long' }))
 * @throws TypeError for a path that no server would have let through.
 */
export function testContext<S extends object = object, P extends object = object>(
  head: TestHead<P> = {},
  state: S = {} as S,
): TestContext<S, P> {
  const informed: { status: number; headers: HeaderList }[] = []
  const controller = new AbortController()
  return {
    request: testHead(head),
    params: head.params ?? ({} as P),
    state,
    body: bodyOf(head.body),
    signal: controller.signal,
    route: head.route ?? '*',
    startedAt: head.startedAt ?? performance.now(),
    draining: head.draining ?? false,
    informed,
    inform: (status, headers) => void informed.push({ status, headers }),
    allowSlowBody() {},
    abort: error => controller.abort(error),
  }
}

/** Makes a request head from a literal. */
export function testHead(head: TestHead = {}): RequestHead {
  const method = head.method ?? 'GET'
  const target = readTarget(method, head.path ?? '/')
  if (typeof target === 'string') throw new TypeError(`path: ${target}`)
  const headers = head.headers instanceof HeaderList ? head.headers : HeaderList.from(head.headers ?? {})
  const scheme = head.scheme ?? 'http'
  const peer: Peer = {
    address: '127.0.0.1',
    unix: false,
    port: 50_000,
    localPort: 80,
    secure: scheme === 'https',
    serverName: null,
    ...head.peer,
  }
  return {
    method,
    scheme,
    authority: head.authority ?? headers.get('host') ?? 'localhost',
    target: target.target,
    path: target.path,
    query: target.query,
    headers,
    version: head.version ?? '1.1',
    upgrade: head.upgrade ?? null,
    peer,
    peerTrusted: head.peerTrusted ?? false,
    clientAddress: head.clientAddress ?? peer.address,
  }
}

function bodyOf(body: TestHead['body']): Source | null {
  if (body === undefined || body === null) return null
  if (typeof body === 'string' || body instanceof Uint8Array) return bytesSource(body)
  return 'start' in body ? body : bytesSource(...body)
}
