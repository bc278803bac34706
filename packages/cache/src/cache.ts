/** The cache as a wrapper: what it lets pass, what it answers, what it forgets. */
import type { Awaitable, Context, Handler, Reply, Wrapper } from '@postern/core'
import { Engine } from './exchange/engine.ts'
import { bypass, write } from './exchange/write.ts'
import type { Purge } from './operate/purge.ts'
import { type CacheOptions, readOptions } from './options.ts'

/** A shared cache. Wrap as many pipelines with it as you like: they share what is stored. */
export interface Cache extends Wrapper {
  /** Takes stored responses away. */
  readonly purge: Purge
  /** What is held at this moment. */
  stats(): CacheStats
  /** Ends the second level. */
  close(): Promise<void>
}

/** What a cache holds. */
export interface CacheStats {
  /** Stored responses in memory. */
  readonly entries: number
  /** Bytes that they take, and those that are being read. */
  readonly bytes: number
  /** Requests to the origin that are under way. */
  readonly fetches: number
}

/**
 * A shared HTTP cache (RFC 9111) around whatever stands behind it in the chain. GET and HEAD are answered from memory
 * where that is allowed; all else passes, and makes what it changes invalid.
 * @example
 * const shared = cache({ maxBytes: 256 * 1024 * 1024 })
 * pipeline().wrap(shared).handle(proxy(app))
 * shared.purge.tag('article-7')
 * @throws ConfigError for options that cannot work.
 */
export function cache(options: CacheOptions = {}): Cache {
  const engine = new Engine(readOptions(options))

  function cacheWrapper<S extends object, P extends object>(inner: Handler<S, P>): Handler<S, P> {
    const ask = inner as unknown as Handler
    return context => handle(engine, ask, context as unknown as Context)
  }

  return Object.assign(cacheWrapper, {
    purge: engine.purge as Purge,
    stats: (): CacheStats => ({
      entries: engine.level1.entries,
      bytes: engine.level1.bytes,
      fetches: engine.flights.size,
    }),
    close: async (): Promise<void> => engine.rules.store?.close(),
  })
}

/** Whose it is does not matter, and neither does how fresh it shall be. */
const ANYBODY = { directives: null, hasAuthorization: false, hasCookie: false }

function handle(engine: Engine, inner: Handler, cx: Context): Awaitable<Reply> {
  const { request } = cx
  const { method } = request
  const question = engine.questions.read(request.headers)
  if (engine.rules.key.fingerprinted?.test(request.path)) Object.assign(question, ANYBODY)
  if (method !== 'GET' && method !== 'HEAD') {
    return request.upgrade === null
      ? write(engine, inner, cx, question)
      : bypass(engine, inner, cx, 'upgrade')
  }
  if (request.upgrade !== null) return bypass(engine, inner, cx, 'upgrade')
  // A body on GET is in no key, and some origins answer by it.
  if (cx.body !== null) return bypass(engine, inner, cx, 'request-body')
  if (question.override !== null) return bypass(engine, inner, cx, 'override-field')
  if (question.hasPrecondition) return bypass(engine, inner, cx, 'precondition')
  return engine.read(inner, cx, question)
}
