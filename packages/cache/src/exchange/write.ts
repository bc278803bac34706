/** Requests that are not answered from the store: they pass, and what they change is forgotten (RFC 9111, 4.4). */
import type { Context, Handler, HeaderList, Reply } from '@postern/core'
import { alsoInvalid, invalidates, sameOriginTarget } from '../policy/invalidation.ts'
import { type Judgement, judge } from '../policy/judge.ts'
import { type Place, placeOf } from '../policy/key.ts'
import type { Question } from '../policy/request.ts'
import { makeEntry } from '../store/entry.ts'
import type { Engine } from './engine.ts'
import { type BodyOwner, SharedBody } from './shared-body.ts'

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
  const keeper = new Keeper(engine, placeOf(request, engine.rules.key), request.headers, reply, judgement)
  if (body instanceof Uint8Array) {
    if (keeper.room(body.length)) keeper.whole(body)
    return true
  }
  const shared = new SharedBody(keeper, body.length)
  reply.body = shared.reader()
  shared.begin(body)
  return true
}

/** Stores one body when it is whole, unless something was purged meanwhile. */
class Keeper implements BodyOwner {
  readonly #engine: Engine
  readonly #place: Place
  readonly #request: HeaderList
  readonly #headers: HeaderList
  readonly #judgement: Judgement
  readonly #tick: number
  readonly #purges: number
  #reserved = 0

  constructor(engine: Engine, place: Place, request: HeaderList, reply: Reply, judgement: Judgement) {
    this.#engine = engine
    this.#place = place
    this.#request = request
    this.#headers = reply.headers.clone()
    this.#judgement = judgement
    this.#tick = engine.nextTick()
    this.#purges = engine.purge.count
  }

  room(bytes: number): boolean {
    const { rules, level1 } = this.#engine
    if (this.#reserved + bytes > rules.maxEntryBytes || !level1.reserve(bytes)) return false
    this.#reserved += bytes
    return true
  }

  whole(body: Uint8Array): void {
    this.lost()
    if (this.#engine.purge.count !== this.#purges) return
    const { key, selector } = this.#place
    this.#engine.commit(
      makeEntry({
        key,
        selector,
        request: this.#request,
        status: 200,
        headers: this.#headers,
        body,
        part: null,
        judgement: this.#judgement,
        tick: this.#tick,
      }),
    )
  }

  lost(): void {
    this.#engine.level1.release(this.#reserved)
    this.#reserved = 0
  }

  deserted(): boolean {
    return false
  }
}
