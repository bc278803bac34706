/** Options of a group, as they are written. */
import type { HashKey } from './balance/consistent-hash.ts'
import type { Resolver } from './dns/resolver.ts'
import type { GroupEvent } from './events.ts'
import type { Http1Client, UpstreamProtocol } from './protocol.ts'
import type { StickyOptions } from './sticky.ts'
import type { TargetOptions } from './target-url.ts'

/** Options of `upstream()`. */
export interface UpstreamOptions {
  /** Name in logs and metrics. */
  name: string
  /**
   * Servers, 1 to 1024: `http://host[:port][/base]`, `https://host[:port][/base]` or `unix:/path/to.sock[:/base]`, or objects
   * with `url` and `weight`. A host name is looked up for each new connection, in both families, and the first address that
   * answers is taken (RFC 8305); with `dns` each of its addresses is a target of its own.
   */
  targets: readonly (string | TargetOptions)[]
  /**
   * How a target is chosen. Default `'round-robin'`, or `'weighted'` when weights are given.
   *
   * - `'round-robin'`: in turn
   * - `'weighted'`: in turn, by weight, spread (smooth weighted round robin)
   * - `'least-requests'`: the fewest requests under way for its weight
   * - `'peak-ewma'`: of two at random the one with less latency times load; for targets that differ
   * - `{ hash }`: the same target for the same `'address'` of the client, `{ header }`, `{ cookie }` or what a function gives;
   *   requests without it in turn
   */
  balance?: Balance
  /** Keeps clients with their target by a cookie; `true` for the defaults. Default false. */
  sticky?: boolean | StickyOptions
  /** Milliseconds in which the share of a target grows that came at run time or has recovered; default 0: full at once. */
  slowStart?: number
  /** Which targets are fit to be used. */
  health?: UpstreamHealthOptions
  /** Makes each address of a host name a target, and asks for them again while it runs. Default false. */
  dns?: boolean | DnsOptions
  /** Told of every change of a target's state. Must not throw. */
  onChange?: (event: GroupEvent) => void
  /**
   * How targets are spoken to. `'h1'` (default): HTTP/1.1. `'h2'`: HTTP/2 over TLS, for `https:` targets. `'h2c'`: HTTP/2
   * without TLS by prior knowledge, for `http:` and `unix:` targets. `'auto'`: for `https:` what the target chooses in the
   * handshake (ALPN, RFC 7301), for the others HTTP/1.1. See docs/protocols.md.
   */
  protocol?: UpstreamProtocol
  /**
   * What speaks HTTP/1.1. `'wire'` (default): this package's own client on sockets, strict and quick. `'undici'`: the library, which
   * cannot send on `Expect` or request trailers. See docs/wire.md.
   */
  http1?: Http1Client
  /** Bounds of HTTP/2 sessions, where those are used. */
  http2?: Http2UpstreamOptions
  /** Tunnels (WebSocket and other upgrades) to each target over HTTP/1.1 at most; more are answered 503. Default 16 384. */
  tunnels?: number
  /** Connections kept to each target at most; with HTTP/2: sessions. Default 128. */
  connections?: number
  /**
   * HTTP/1.1 connections to each target that are opened at once, before the first request; at most `connections`. Default 0.
   */
  warm?: number
  /** Requests that may wait for a connection to a target, beyond those; more are answered 503. Default 1024. */
  queue?: number
  /** How long an idle connection is kept, in ms. Default 4000: below the 5 s after which Node servers close. */
  keepAlive?: number
  /** Milliseconds that requests get to finish on a target that was removed; default 30 000. Then they are cut. */
  drainTimeout?: number
  /** Limits in time; each has its own default. */
  timeouts?: {
    /** TCP and TLS handshake, in ms. Default 5000; 504. */
    connect?: number
    /** From the request's end to the head of the reply, in ms. Default 20 000; 504. */
    head?: number
    /** Silence inside a body, in ms. Default 30 000; 504, or a cut reply. */
    idle?: number
    /**
     * The whole exchange with all attempts, in ms; 0 for none. Default 30 000; 504. Does not count for streams (see
     * docs/rationale.md).
     */
    total?: number
    /** Silence on a tunnel in both directions, in ms; 0 for any. It ends after one to two times as long. Default 3 600 000. */
    tunnel?: number
  }
  /** For `https:` targets: authorities, name, client certificate. */
  tls?: TlsOptions
}

/** Options of {@link UpstreamOptions.http2}. */
export interface Http2UpstreamOptions {
  /** Requests at a time on one session; the target's own limit holds too. Default 100. */
  streams?: number
  /** How long a session without requests is kept, in ms. Default 60 000. */
  idle?: number
  /**
   * Silence on a session with open requests, in ms, after which a PING asks whether it lives; 0 (default) asks only when a
   * request has timed out. Many gRPC servers take more than a PING in five minutes for abuse.
   */
  pingAfter?: number
  /** How long the answer to a PING may take, in ms; then the session is closed and its requests fail. Default 5000. */
  pingTimeout?: number
}

/** TLS to `https:` targets. Verification can't be turned off. */
export interface TlsOptions {
  /** Certificates that may sign the targets' own, instead of the system's. PEM. */
  ca?: string | Buffer | readonly (string | Buffer)[]
  /** Name to ask for and to verify, for all targets; default: the target's own host name, and none for addresses. */
  servername?: string
  /** Client certificate with its chain, PEM; goes with `key`. */
  cert?: string | Buffer
  /** Key of the client certificate, PEM. */
  key?: string | Buffer
  /** Of an encrypted `key`. */
  passphrase?: string
}

/** See {@link UpstreamOptions.balance}. */
export type Balance = 'round-robin' | 'weighted' | 'least-requests' | 'peak-ewma' | { readonly hash: HashKey }

/** Options of {@link UpstreamOptions.health}. */
export interface UpstreamHealthOptions {
  /** Asks each target; default: nothing is asked. A string is the path. */
  check?: string | CheckOptions
  /**
   * Watches the traffic; default: five failures in a row. `false`: not at all. A failure is one that the target caused before
   * or inside its reply, or one of `statuses`; what a client causes never counts.
   */
  passive?: boolean | PassiveOptions
  /**
   * When the share of usable targets is this or less, all are used: better a bad one than none. 0 to 1, default 0: when none is
   * left. `false`: never; without a usable target requests are answered 503.
   */
  panic?: number | false
}

/** Options of active checks. */
export interface CheckOptions {
  /** Path with query, default `/`. The target's base path is put in front. */
  path?: string
  /** Default `GET`. */
  method?: 'GET' | 'HEAD'
  /** `Host` of the check; default: the target's own. */
  host?: string
  /** Milliseconds between two checks, a tenth more or less; default 10 000. */
  interval?: number
  /** Milliseconds until a check has failed; default 2000. */
  timeout?: number
  /** Passes in a row that bring a target back; default 2. */
  rise?: number
  /** Failures in a row that take it out; default 3. */
  fall?: number
  /** Use targets before their first check is over? Default `'up'`: yes. The first pass decides alone. */
  initial?: 'up' | 'down'
  /** Statuses that are a pass; default 200 to 299. */
  status?: number | readonly number[]
}

/** Options of passive checks and of the circuit breaker behind them. */
export interface PassiveOptions {
  /** Failures in a row that take a target out; default 5. `false`: not counted. */
  consecutive?: number | false
  /** Share of failures that takes it out; default not looked at. */
  errorRate?: {
    /** Above 0, up to 1. */
    share: number
    /** Milliseconds that are looked at; default 10 000. */
    window?: number
    /** Requests in that time below which nothing is decided; default 20. */
    atLeast?: number
  }
  /** Takes out a target that answers, but much slower than its peers (a gray failure); default not looked at. */
  slow?: {
    /** Times the median of the others' average time to a head; above 1. */
    factor: number
    /** And by more than so many ms; default 100. */
    atLeast?: number
    /** Replies below which a target is not compared; default 20. */
    requests?: number
  }
  /** Statuses that count as failures; default 502, 503, 504. */
  statuses?: readonly number[]
  /** Milliseconds that a target is out the first time, half of it fixed, half drawn; doubles each time. Default 5000. */
  backoff?: number
  /** Longest time out, in ms; default 60 000. */
  maxBackoff?: number
  /** Requests that may try it at once afterwards; default 1. */
  probes?: number
  /** Answers in a row that bring it back; default 2. */
  successes?: number
}

/** Options of {@link UpstreamOptions.dns}. */
export interface DnsOptions {
  /**
   * `'system'` (default): hosts file and search domains count, no TTL is known. `'records'`: A and AAAA with their TTL from the
   * name servers. Or a function.
   */
  resolver?: 'system' | 'records' | Resolver
  /** Longest time between two questions, in ms, a tenth more or less; default 30 000. */
  interval?: number
  /** Shortest time, whatever the TTL, in ms; default 1000. */
  minimum?: number
  /** An answer that takes longer has failed, in ms; default 5000. */
  timeout?: number
}
