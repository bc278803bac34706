/**
 * The filter for an engine that looks at each step of an exchange.
 *
 *   1. the request's head, before its body is read
 *   2. the request's body, held as in `waf.ts`
 *   3. the reply's head, before any of it is sent
 *   4. the reply's body, held up to the engine's limit where its rules want to see it
 *   5. the end: logging, once, whatever happened
 *
 * A refusal in 3 and 4 replaces the reply, of which nothing has been sent.
 */
import {
  type Context,
  type Filter,
  holdReplyBody,
  type Outcome,
  type Reply,
  type ReplyHead,
  refuse,
  type Verdict,
} from '@postern/core'
import { Collector, declaredLength } from '../body/collector.ts'
import type { Engine, Following } from '../engine/types.ts'
import type { RouteExceptions } from './exceptions.ts'
import { judged, pairsOf, refusalOf, requestOf, tell, warn } from './judge.ts'
import type { Settings } from './options.ts'
import type { WafReport } from './report.ts'

/** What the filter knows of an exchange. */
interface Followed {
  readonly following: Following
  readonly exceptions: RouteExceptions | null
  partial: boolean
}

export function followingHooks(
  settings: Settings<string>,
  follow: NonNullable<Engine['follow']>,
): Omit<Filter, 'name'> {
  const { field, maxBody, rejects, mode, engine } = settings
  const held = Symbol('held')
  const followed = Symbol('followed')
  type Inner = { [held]: Collector | null; [followed]: Followed | null } & Record<string, WafReport | null>
  const stateOf = (cx: Context): Inner => cx.state as unknown as Inner

  /** Takes a step. An engine that fails has not looked: nothing passes for that, but a shadow never stands in the way. */
  const take = (cx: Context, step: () => Reply | undefined): Reply | undefined => {
    try {
      return step()
    } catch (cause) {
      stateOf(cx)[followed] = null
      if (mode === 'block') throw cause
      warn(cause)
      return undefined
    }
  }

  const report = (cx: Context, { following, exceptions, partial }: Followed): Reply | undefined => {
    const inspection = following.inspection()
    const made = judged(settings, inspection, exceptions, partial)
    stateOf(cx)[field] = made
    return refusalOf(made, inspection.answer)
  }

  /** 5: with the answer that goes out, as far as this filter knows it. */
  const finish = (cx: Context, given: Reply, refusal: Reply | undefined): Reply | undefined => {
    const state = stateOf(cx)
    const mine = state[followed]!
    state[followed] = null
    const { status, headers } = refusal ?? given
    mine.following.end(status, pairsOf(headers.raw))
    // Rules of the last phase have spoken.
    report(cx, mine)
    tell(settings, state[field]!, cx)
    return refusal
  }

  return {
    state: () => ({ [field]: null, [held]: null, [followed]: null }),
    // 1
    onRequest: function lookAtHead(cx: Context): Reply | undefined {
      const state = stateOf(cx)
      if (cx.body !== null && rejects && declaredLength(cx.request.headers.get('content-length')) > maxBody)
        return refuse(413, 'body-too-large')
      return take(cx, () => {
        const exceptions = settings.exceptionsOf(cx.route)
        const following = follow.call(engine, requestOf(cx, null, false), exceptions?.findings ?? null)
        const mine = { following, exceptions, partial: false }
        state[followed] = mine
        if (!following.refused) {
          if (cx.body !== null) {
            state[held] = new Collector(maxBody)
            return undefined
          }
          following.requestBody(null)
        }
        return report(cx, mine)
      })
    },
    holdBody: cx => (stateOf(cx)[held] === null ? 0 : maxBody + 1),
    // 2
    onRequestBody: function lookAtBody(cx: Context, bytes: Uint8Array, end: boolean): Reply | undefined {
      const state = stateOf(cx)
      const collector = state[held]
      const mine = state[followed]
      if (collector === null || mine === null || !collector.add(bytes, end)) return undefined
      mine.partial = collector.past
      const body = collector.take()
      if (mine.partial && rejects) return refuse(413, 'body-too-large')
      return take(cx, () => {
        mine.following.requestBody(body)
        return report(cx, mine)
      })
    },
    onReply: function lookAtReply(cx: Context, head: ReplyHead): Verdict {
      const mine = stateOf(cx)[followed]
      if (mine === null) return undefined
      const { following } = mine
      const reply = head as Reply
      let limit = 0
      // 3
      const verdict = take(cx, () => {
        if (following.refused) return finish(cx, reply, undefined)
        if (following.replyHead(reply.status, pairsOf(reply.headers.raw)))
          return finish(cx, reply, report(cx, mine))
        limit = hasBody(cx, reply) ? following.replyBodyLimit : 0
        if (limit > 0 && !(reply.body instanceof Uint8Array)) return undefined
        const bytes = limit > 0 ? (reply.body as Uint8Array) : null
        const refused = following.replyBody(bytes)
        limit = 0
        return finish(cx, reply, refused ? report(cx, mine) : undefined)
      })
      if (verdict !== undefined || limit === 0 || stateOf(cx)[followed] === null) return verdict
      // 4
      return holdReplyBody(reply, limit, cx.signal).then(({ bytes }) =>
        take(cx, () => {
          const refused = following.replyBody(bytes)
          return finish(cx, reply, refused ? report(cx, mine) : undefined)
        }),
      )
    },
    onDone: function endAll(cx: Context, { status }: Outcome): void {
      const state = stateOf(cx)
      const mine = state[followed]
      if (mine === null) return
      // The client has left before there was a reply, or the reply broke.
      state[followed] = null
      try {
        mine.following.end(status, [])
        report(cx, mine)
        tell(settings, state[field]!, cx)
      } catch (cause) {
        warn(cause)
      }
    },
  }
}

/** Whether a reply has a body that the client will see (RFC 9110, 6.4.1). */
function hasBody({ request }: Context, { status, body }: Reply): boolean {
  if (!body || 'splice' in body || request.method === 'HEAD') return false
  return status !== 204 && status !== 205 && status !== 304
}
