/** Requests that are not answered from the store: they pass, and what they change is forgotten (RFC 9111, 4.4). */
import type { Context, Handler, Reply } from '@postern/core'
import { alsoInvalid, invalidates, sameOriginTarget } from '../policy/invalidation.ts'
import { judge } from '../policy/judge.ts'
import { placeOf } from '../policy/key.ts'
import type { Question } from '../policy/request.ts'
import type { Engine } from './engine.ts'
import { Landing } from './landing.ts'
import { SharedBody } from './shared-body.ts'

/** Forwards as it is. `reason` is told. */
export async function bypass(engine: Engine, inner: Handler, cx: Context, reason: string): Promise<Reply> {
  return engine.fetched(cx, await inner(cx), 'bypass', reason, 'bypass', false)
}

/** Forwards a request with a method that the store does not answer. */
export async function write(engine: Engine, inner: Handler, cx: Context, question: Question): Promise<Reply> {
  const requestTime = engine.now()
  const { method, target, scheme, authority } = cx.request
  const reply = await inner(cx)
  if (!reply.error && invalidates(method, reply.status)) {
    engine.purge.target(scheme, authority, target)
    for (const other of alsoInvalid(scheme, authority, target, reply.headers))
      engine.purge.target(scheme, authority, other)
  }
  const stored = method === 'POST' && keepForGet(engine, cx, question, reply, requestTime)
  return engine.fetched(cx, reply, 'bypass', 'method', 'method', stored)
}

/**
 * The answer to a POST is stored for later GETs when it says that it is the representation of this very URL, and for
 * how long (RFC 9110, 9.3.3).
 */
function keepForGet(
  engine: Engine,
  cx: Context,
  question: Question,
  reply: Reply,
  requestTime: number,
): boolean {
  const { request } = cx
  const { body } = reply
  const said = reply.headers.get('content-location')
  if (reply.status !== 200 || said === undefined || reply.error || body === null || 'splice' in body)
    return false
  if (sameOriginTarget(request.scheme, request.authority, request.target, said) !== request.target)
    return false
  const asked = {
    noStore: question.directives?.noStore ?? false,
    hasAuthorization: question.hasAuthorization,
    // Nobody guesses here.
    hasCookie: true,
    requestTime,
    responseTime: engine.now(),
  }
  const judgement = judge(200, reply.headers, asked, engine.rules.judge)
  // A GET need not carry the fields that the answer to the POST was chosen by.
  if (!judgement.fresh || judgement.varyNames.length > 0) return false
  const { count } = engine.purge
  const landing = new Landing(engine, {
    place: placeOf(request, engine.rules.key),
    request: request.headers,
    status: 200,
    headers: reply.headers.clone(),
    part: null,
    judgement,
    tick: engine.nextTick(),
    since: null,
    background: false,
    // Whatever was purged meanwhile may have been this.
    isDoomed: () => engine.purge.count !== count,
    done() {},
  })
  if (body instanceof Uint8Array) {
    if (landing.room(body.length)) landing.whole(body)
    return true
  }
  const shared = new SharedBody(landing, body.length)
  reply.body = shared.reader()
  shared.begin(body)
  return true
}
