/**
 * The filter: an engine in the pipeline.
 *
 *   1. a request without a body is looked at with its head
 *   2. a body is held, whole or up to the limit, and looked at together with the head
 *   3. what counts is put into the state, told, and answered with 403
 *
 * The engine sees the raw target, the fields and the bytes that go to the handler, and nothing else of the request. An
 * engine that looks at replies as well follows the exchange instead: see `exchange.ts`.
 */
import { type Context, type Filter, type Reply, refuse } from '@postern/core'
import { Collector, declaredLength } from '../body/collector.ts'
import type { Engine, Inspection } from '../engine/types.ts'
import { followingHooks } from './exchange.ts'
import { judged, refusalOf, requestOf, tell, warn } from './judge.ts'
import { type Settings, settle, type WafOptions } from './options.ts'
import type { WafReport } from './report.ts'

/** State of the filter: what it made of the request; `null` before it has looked. */
export type WafState<Field extends string> = { [K in Field]: WafReport | null }

/**
 * Looks at each request with `engine` and refuses what it blocks: 403, with a reply that says nothing of the reason. The log
 * gets `waf-` and a category as the reason, and the rules with their places through the state. Engines that look at replies
 * ({@link Engine.follow}) see those too: a refused one is replaced before any of it is sent.
 *
 * A body waits in memory until it has been looked at: at most `maxBody` bytes and one chunk a request. Streams in both
 * directions (gRPC) do not work through it.
 * @example pipeline().use(waf(signatures(), { mode: 'shadow' }))
 * @throws ConfigError with every fault of the options.
 */
export function waf<const Field extends string = 'waf'>(
  engine: Engine,
  options: WafOptions<Field> = {},
): Filter<object, WafState<Field>> {
  const settings = settle(engine, options)
  const hooks =
    engine.follow === undefined || engine.looksAtReplies === false
      ? requestHooks(settings)
      : followingHooks(settings, engine.follow)
  return { name: 'waf', ...hooks } as Filter<object, WafState<Field>>
}

function requestHooks(settings: Settings<string>): Omit<Filter, 'name'> {
  const { field, maxBody, rejects } = settings
  // A second WAF in the pipeline holds chunks of its own.
  const held = Symbol('held')
  type Inner = { [held]: Collector | null } & Record<string, WafReport | null>
  const stateOf = (cx: Context): Inner => cx.state as unknown as Inner

  return {
    state: () => ({ [field]: null, [held]: null }),
    // 1
    onRequest: function lookAtHead(cx: Context): Reply | undefined {
      if (cx.body === null) return decide(settings, cx, null, false, stateOf(cx))
      if (rejects && declaredLength(cx.request.headers.get('content-length')) > maxBody)
        return refuse(413, 'body-too-large')
      stateOf(cx)[held] = new Collector(maxBody)
      return undefined
    },
    // One byte more than the limit tells a body of exactly this size from a longer one.
    holdBody: () => maxBody + 1,
    // 2
    onRequestBody: function lookAtBody(cx: Context, bytes: Uint8Array, end: boolean): Reply | undefined {
      const state = stateOf(cx)
      const mine = state[held]
      if (mine === null || !mine.add(bytes, end)) return undefined
      const { past } = mine
      const body = mine.take()
      if (past && rejects) return refuse(413, 'body-too-large')
      return decide(settings, cx, body, past, state)
    },
  }
}

// 3
function decide(
  settings: Settings<string>,
  cx: Context,
  body: Uint8Array | null,
  partial: boolean,
  state: Record<string, WafReport | null>,
): Reply | undefined {
  const exceptions = settings.exceptionsOf(cx.route)
  let given: Inspection
  try {
    given = settings.engine.inspect(requestOf(cx, body, partial), exceptions?.findings ?? null)
  } catch (cause) {
    // An engine that fails has not looked: nothing passes for that, but a shadow never stands in the way.
    if (settings.mode === 'block') throw cause
    warn(cause)
    return undefined
  }
  const report = judged(settings, given, exceptions, partial)
  state[settings.field] = report
  tell(settings, report, cx)
  return refusalOf(report, given.answer)
}
