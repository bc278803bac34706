/**
 * The contract: filters decide, handlers answer, wrappers re-ask.
 *
 * This file has types only and no `node:` import. The hooks stand in the order of a request's life.
 */
import type { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import type { PreparedLines } from '../headers/prepared.ts'
import type { BarePattern, ParamsOf } from './params.ts'

/** A value now, or a promise of it. A promise exists only where somebody really has to wait. */
export type Awaitable<T> = T | Promise<T>

/** What a deciding hook returns: `undefined` carries on, a {@link Reply} answers now. */
export type Verdict = Awaitable<Reply | undefined>

/**
 * What whoever ended TLS says of a connection. It stands on the socket under `PEER_TLS` before the first request is
 * read; @postern/tls puts more there and reads it with `tlsOf(cx)`.
 */
export interface PeerTls {
  /** False for a host that must not be asked for on this connection: answered 421 (RFC 9110, 15.5.20). No port. */
  serves(host: string): boolean
}

/** The other end of the connection that a request came on. One object a connection. */
export interface Peer {
  /** Canonical address: IPv4-mapped IPv6 is written as IPv4, no zone id. `''` where there is none to read. */
  readonly address: string
  /** True for a Unix socket: the only peer that `trust: ['unix']` means. */
  readonly unix: boolean
  /** Remote port, 0 when there is none. */
  readonly port: number
  /** Local port, 0 when there is none. */
  readonly localPort: number
  /** True when the connection is encrypted by this process. */
  readonly secure: boolean
  /** Server name of the TLS handshake (RFC 6066), lower case; `null` without one. */
  readonly serverName: string | null
  /** Facts of the TLS connection, where somebody has put them there. */
  readonly tls?: PeerTls | null
}

/** The head of a request as plain data. A test writes it as a literal. */
export interface RequestHead {
  /** Method as sent; case-sensitive (RFC 9110, 9.1). */
  readonly method: string
  /** Scheme that the client used: of the connection, or what a trusted peer says in `X-Forwarded-Proto`. */
  readonly scheme: 'http' | 'https'
  /** Normalised `host[:port]`: lower case, no default port, no trailing dot. `''` only with HTTP/1.0. */
  readonly authority: string
  /** Raw target in origin-form (or `*`), byte for byte as received (one character a byte). This is what is forwarded. */
  readonly target: string
  /**
   * Canonical path, without query. Router, gates, WAF and cache all read this one. Always starts with `/`, or is `*`.
   * Two paths are equal here only when RFC 3986 calls them so: `//`, `;…`, `%2F` and `%5C` stand as they were written.
   */
  readonly path: string
  /** Raw query without the `?`; `''` when there is none. */
  readonly query: string
  /** Field lines in order, with case and duplicates kept. */
  readonly headers: HeaderList
  /** Protocol version of the client's connection. */
  readonly version: '1.0' | '1.1' | '2.0'
  /** Protocol asked for by `Upgrade` (RFC 9110, 7.8) or extended CONNECT (RFC 8441), lower case; else `null`. */
  readonly upgrade: string | null
  /** The connection's other end. */
  readonly peer: Peer
  /** True when the peer may supply `X-Forwarded-*` and `Forwarded` (the pipeline's `trust` option). */
  readonly peerTrusted: boolean
  /** Address of the client: the peer, or the right-most untrusted hop that trusted peers report. */
  readonly clientAddress: string
}

/** Takes bytes. Whoever writes stops when `write` says false, until the {@link Flow} is resumed. */
export interface Sink {
  /** Takes a chunk. False: pause until resumed. The bytes belong to the sink from now on. */
  write(bytes: Uint8Array): boolean
  /** The body is whole. */
  end(trailers?: HeaderList): void
  /** The body broke; it must never look whole to the next reader. */
  fail(error: ProxyError): void
  /**
   * True: it never edits the bytes that it gets, and what it hands them to does not either. A source whose bytes are also
   * others' (a cache's) gives a copy to every sink that does not say so.
   */
  readonly readsOnly?: boolean
}

/** Control over a started {@link Source}. */
export interface Flow {
  pause(): void
  resume(): void
  /** Nobody wants the rest. */
  cancel(error: ProxyError): void
}

/** A body that pushes: a chunk is a method call, not a promise. It can be started once. */
export interface Source {
  /** Bytes, when known in advance; else `null`. */
  readonly length: number | null
  start(sink: Sink): Flow
}

/** Two-way bytes after an upgrade: a 101 of HTTP/1.1 or a 200 to an extended CONNECT. */
export interface Tunnel {
  readonly protocol: string
  /** Joins the client's bytes with the upstream's. */
  splice(client: Source, toClient: Sink): Flow
}

/** Status and fields of a reply; hooks may edit both. */
export interface ReplyHead {
  status: number
  headers: HeaderList
}

/** An answer. */
export interface Reply extends ReplyHead {
  /** Bytes, a source, a tunnel, or no body. */
  body: Uint8Array | Source | Tunnel | null
  /** What `headers` began with when the reply was made, ready to be sent. */
  prepared?: PreparedLines | undefined
  /** Set when this reply stands for a failure; the access log tells it. */
  error?: ProxyError | undefined
  /** Short machine-readable reason of a refusal, for example `rate-limit`. Logged and counted, not sent. */
  reason?: string | undefined
}

/** Edits a reply's body as it passes. Made once per reply, by `replyBody`. */
export interface BodyTransform {
  chunk(bytes: Uint8Array, out: Sink): void
  end(out: Sink, trailers?: HeaderList): void
}

/**
 * Puts another body in a body's place, for edits that take time. The one that it gives starts the old one when it is started, and
 * hands `pause`, `resume` and `cancel` on to it.
 */
export type BodyReplacement = (body: Source) => Source

/** What the upstream is about to see. Edited by `onForward`. */
export interface ForwardHead {
  readonly method: string
  /** Target in origin-form; the target's base path is put in front of it. Assigning an illegal one throws. */
  target: string
  /** Value of `Host` (or `:authority`). */
  authority: string
  /** End-to-end fields. `set` and `delete` also remove underscore and dot spellings of the name. */
  readonly headers: HeaderList
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** One attempt as it is sent: its head is final, but for fields that name the attempt itself. */
export interface SentAttempt {
  /** 1 for the first. */
  readonly attempt: number
  /** Name of the upstream. */
  readonly upstream: string
  /** Label of the target; of a bounded set. */
  readonly target: string
  readonly method: string
  /** Target in origin-form, with the base path. */
  readonly path: string
  readonly headers: HeaderList
}

/** Hears how an attempt goes. Must not throw. */
export interface AttemptWatch {
  /** The final head of its reply has come, or 101. At most once. */
  onHead(status: number): void
  /** It is over, body or tunnel included; exactly once. `error`: it failed, or nobody wanted the rest. */
  onEnd(error: ProxyError | null): void
}

/** One exchange: a request, and what is known about it so far. */
export interface Context<S extends object = object, P extends object = object> {
  readonly request: RequestHead
  /** Values of the route pattern's parameters, percent-decoded once. */
  readonly params: Readonly<P>
  /** Grows with every `.use()`. */
  readonly state: S
  /** Request body, chunk hooks already applied; `null` when the request has none. */
  readonly body: Source | null
  /** Made on first read; aborts with a {@link ProxyError} as its reason when the client goes. */
  readonly signal: AbortSignal
  /** Pattern of the matched route, `'*'` for the fallback. A bounded set: fit for a metrics label. */
  readonly route: string
  /** `performance.now()` when the head had been read. */
  readonly startedAt: number
  /** True while the server finishes what runs and takes nothing new. */
  readonly draining: boolean
  /** Sends an interim response (100, 102, 103) where the client's protocol can carry it. */
  inform(status: number, headers: HeaderList): void
  /** The client may send the body as slowly as it likes: `minBodyRate` of the server does not count. */
  allowSlowBody(): void
}

/** How an exchange ended. */
export interface Outcome {
  /** Status that was sent; 499 when the client left before any was. */
  readonly status: number
  /** Name of the filter that answered; `null` when the handler did. */
  readonly filter: string | null
  /** Reason given by the reply. */
  readonly reason: string | null
  /** Who failed, in which phase, and how; `null` when nothing did. */
  readonly error: ProxyError | null
  /** Name of the upstream that was asked; `null` when none was. */
  readonly upstream: string | null
  /** Label of the target that was asked last; of a bounded set. */
  readonly target: string | null
  /** Attempts to reach a target; 0 when none was made. */
  readonly attempts: number
  /** Bytes of request and reply body that passed. */
  readonly bytesReceived: number
  readonly bytesSent: number
  /** Milliseconds from the head's arrival to the end. */
  readonly duration: number
}

/**
 * A named object of optional hooks. It answers early or edits; it never calls the next one.
 *
 * The hooks are properties, not methods: only so does a filter with unmet `Needs` fail to compile.
 */
export interface Filter<
  Needs extends object = object,
  Adds extends object = object,
  P extends object = object,
> {
  /** Appears in logs and metrics when the filter answers. */
  readonly name: string
  /** Initial values of the state fields that it adds. Called once a request. */
  readonly state?: () => Adds
  /** The head is read, nothing of the body is. In order of registration. Upgrades pass here too. */
  readonly onRequest?: (cx: Context<Needs & Adds, P>) => Verdict
  /** Bytes of body that it must see before the handler runs. The largest wish wins. */
  readonly holdBody?: (cx: Context<Needs & Adds, P>) => number
  /** Sees each chunk on its way in; `end` comes once, with or without bytes. A reply stops the upload. */
  readonly onRequestBody?: (cx: Context<Needs & Adds, P>, bytes: Uint8Array, end: boolean) => Verdict
  /** Once per attempt, before the head goes to the upstream. */
  readonly onForward?: (cx: Context<Needs & Adds, P>, out: ForwardHead) => Awaitable<void>
  /** Once per attempt, behind all `onForward`, as it is sent: gives what wants to hear how it goes. */
  readonly onAttempt?: (cx: Context<Needs & Adds, P>, sent: SentAttempt) => AttemptWatch | undefined
  /**
   * In reverse order, for every filter that was entered. Edits the head, or replaces the reply. One that decides by the
   * body calls `holdReplyBody(head, …)`.
   */
  readonly onReply?: (cx: Context<Needs & Adds, P>, head: ReplyHead) => Verdict
  /**
   * Once per reply, in reverse order: what edits its body, or `undefined` to leave it alone. An edited reply loses its
   * `Content-Length`, digests and `Accept-Ranges`, and its `ETag` becomes a weak one. The bytes are as they were sent, with their
   * `Content-Encoding`, and of a part where the status is 206: `editReplyBody` takes care of both. Also called for a HEAD, where the
   * head alone is edited.
   */
  readonly replyBody?: (
    cx: Context<Needs & Adds, P>,
    head: ReplyHead,
  ) => BodyTransform | BodyReplacement | undefined
  /** Exactly once, whatever happened. Must not throw. */
  readonly onDone?: (cx: Context<Needs & Adds, P>, outcome: Outcome) => void
  /** For bundles made by `bundle()`: used in place of this filter, in this order. */
  // biome-ignore lint/suspicious/noExplicitAny: the parts' own types were checked where the bundle was made.
  readonly parts?: readonly Filter<any, any, any>[]
}

/** Answers a request. */
export type Handler<S extends object = object, P extends object = object> = (
  cx: Context<S, P>,
) => Awaitable<Reply>

/** Handler in, handler out: cache, retry, coalescing. Only for what must own the inner call. Applied once, at build. */
export type Wrapper<Needs extends object = object> = <S extends Needs, P extends object>(
  inner: Handler<S, P>,
) => Handler<S, P>

/** Prints one sentence where a state field is claimed twice. */
export type NoClash<S, A> = keyof S & keyof A extends never
  ? unknown
  : { readonly 'state field is taken': `state field '${keyof S & keyof A & string}' is taken` }

/** The typed builder. Every call returns a new pipeline; the old one stays as it was. */
export interface Pipeline<S extends object, P extends object> {
  /** Adds a filter. A field claimed twice, or a need that nobody met before, does not compile. */
  use<A extends object>(filter: Filter<S, A, P> & NoClash<S, A>): Pipeline<S & A, P>
  /** Wraps the handlers of this pipeline and of all routes that follow in it. The first is the outermost. */
  wrap(wrapper: (inner: Handler<S, P>) => Handler<S, P>): Pipeline<S, P>
  /**
   * Answers requests for a host name with a pipeline of its own. `*.example.com` stands for one or more labels.
   * An exact name wins over a wildcard, a longer wildcard over a shorter one.
   */
  host(name: string, build: (host: Pipeline<S, P>) => App): Pipeline<S, P>
  /**
   * Adds a route. The pattern is the whole canonical path, also in a nested route: `/users/:id`, `/files/*`,
   * `/files/*rest`, with methods in front where they matter: `GET /users/:id`, `GET,POST /users`. `GET` takes `HEAD` too,
   * unless another route for the same path names it; a route with methods wins over one without, whatever the order.
   * A static segment wins over a parameter, a parameter over a wildcard; a path that only fits with
   * another method is answered 405 with `Allow` (RFC 9110, 15.5.6).
   */
  route<const Pattern extends string>(
    pattern: Pattern & BarePattern<Pattern>,
    build: (route: Pipeline<S, P & ParamsOf<Pattern>>) => App,
  ): Pipeline<S, P>
  /**
   * Ends the chain: `handler` answers what no route took (404 without one).
   * @throws ConfigError with every fault of the pipeline, each naming the place, the value and the fix.
   */
  handle(handler?: Handler<S, P>): App
}

/** What a test may ask of {@link App.inject}. */
export interface InjectOptions {
  /** Target in origin-form; default `/`. */
  path?: string
  /** Default `GET`, or `POST` with a body. */
  method?: string
  /** Default `http`. */
  scheme?: 'http' | 'https'
  /** Default `localhost`. */
  authority?: string
  /** Fields beside `Host`; default none. A list of values becomes as many lines. */
  headers?: Record<string, string | readonly string[]> | HeaderList
  /** Default none. A list is sent in chunks, one a turn of the event loop. */
  body?: string | Uint8Array | readonly Uint8Array[]
  /** Peer address; default `127.0.0.1`. `''` for a Unix socket. */
  address?: string
  /** Version of HTTP; default `1.1`. */
  version?: '1.0' | '1.1' | '2.0'
}

/** What {@link App.inject} gives back: the reply with its body read to the end. */
export interface InjectedReply {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
  readonly trailers: HeaderList | null
  /** Interim responses, in order. */
  readonly interim: readonly { readonly status: number; readonly headers: HeaderList }[]
  readonly outcome: Outcome
  text(): string
  json(): unknown
}

/** Where a transport stands in an exchange. */
export interface ClientLink {
  readonly draining: boolean
  /** Bytes of request body read so far. */
  readonly bytesReceived: number
  inform(status: number, headers: HeaderList): void
  /** Ends the exchange now: an answer where none has begun, else a cut one. Transports that have no way to do so leave it out. */
  cut?(error: ProxyError): void
  /** The body is not held to a rate. Transports that know of none leave it out. */
  allowSlowBody?(): void
}

/** An exchange in the hands of a transport. */
export interface OpenExchange {
  /** Runs the request hooks, the handler and the reply hooks. A failure is a reply with `error`; a rejection is a bug: 500. */
  run(): Awaitable<Reply>
  /** The client has gone before the reply was whole. */
  abort(error: ProxyError): void
  /** Ends the exchange; only the first call counts. */
  done(status: number, bytesSent: number, error: ProxyError | null): void
  /** How it ended; complete once `done` was called. */
  readonly outcome: Outcome
}

/** The frozen result of a pipeline. */
export interface App {
  /** Takes a request from a transport. With a `fault`, the head was refused: no gate runs, but the log hears of it. */
  open(head: RequestHead, body: Source | null, link: ClientLink, fault?: ProxyError | null): OpenExchange
  /** Which peers may supply `X-Forwarded-*`. */
  readonly trusts: (address: string) => boolean
  /** Sends a request through the whole app in memory, without a socket. */
  inject(options?: InjectOptions): Promise<InjectedReply>
}
