/**
 * One request to the origin, and all who wait for it.
 *
 *   1. the origin is asked, with no client of its own: whoever leaves, the others get their answer
 *   2. the head decides: stale after all, 304, a missing part, a failure, or a new response
 *   3. a response that all may have is given to all as it arrives, and stored when it is whole
 *   4. one that only the first may have goes to the first; the others ask for themselves, at once and side by side
 */
import {
  type Context,
  type Handler,
  HeaderList,
  ProxyError,
  type Reply,
  type Source,
  subrequest,
} from '@postern/core'
import { ageValue } from '../policy/age.ts'
import { isNotModified, notModifiedFields, selects } from '../policy/conditional.ts'
import { seconds } from '../policy/directives.ts'
import { type Judgement, judge } from '../policy/judge.ts'
import type { Place } from '../policy/key.ts'
import { lengthOf, type Part, parseContentRange } from '../policy/range.ts'
import { flavourOf, type Question } from '../policy/request.ts'
import { mayUseStale, type StaleOccasion } from '../policy/stale.ts'
import { storedFields, updatedFields } from '../policy/update.ts'
import { varyKey } from '../policy/vary.ts'
import { type Entry, isFresh, makeEntry, renewedEntry, stalenessOf, tagsOf } from '../store/entry.ts'
import { completion } from './completion.ts'
import type { Engine } from './engine.ts'
import { type FetchPlan, planWhole, signatureOf } from './plan.ts'
import { type BodyOwner, SharedBody } from './shared-body.ts'

/** A request that waits for an answer. */
interface Waiter {
  readonly cx: Context
  readonly question: Question
  readonly resolve: (reply: Reply | PromiseLike<Reply>) => void
  readonly reject: (cause: unknown) => void
  readonly onAbort: () => void
}

/** Most interim responses that are kept for those who join late. */
const MOST_INTERIM = 8
/** Most tags that are remembered as purged while the head has not come. */
const MOST_PURGED_TAGS = 256

export class Fetch implements BodyOwner {
  readonly place: Place
  /** Fields of the request that it was begun for; `Vary` is counted from them. */
  readonly request: HeaderList
  readonly tick: number
  readonly #engine: Engine
  readonly #inner: Handler
  readonly #alone: boolean
  readonly #background: boolean
  #plan: FetchPlan
  #waiters: Waiter[] = []
  readonly #interim: { status: number; headers: HeaderList }[] = []
  #abort: ((error: ProxyError) => void) | null = null
  #requestTime = 0
  #responseTime = 0
  #asker!: Question
  /** `private`: it is being stored, but is of no use to others without asking. */
  #state: 'asking' | 'sharing' | 'private' | 'over' = 'asking'
  #doomed = false
  readonly #purgedTags = new Set<string>()
  // Once the head is judged:
  #judgement: Judgement | null = null
  #status = 0
  #headers = new HeaderList()
  #part: Part | null = null
  #body: SharedBody | null = null
  #reserved = 0

  constructor(
    engine: Engine,
    inner: Handler,
    place: Place,
    plan: FetchPlan,
    request: HeaderList,
    mode: { alone: boolean; background: boolean },
  ) {
    this.#engine = engine
    this.#inner = inner
    this.place = place
    this.#plan = plan
    this.request = request
    this.#alone = mode.alone
    this.#background = mode.background
    this.tick = engine.nextTick()
  }

  /** What the response varies by, once that is known. */
  get varyNames(): readonly string[] | null {
    return this.#state === 'sharing' ? this.#judgement!.varyNames : null
  }

  /** True when a request for the same key can wait for this one. `Vary` is the caller's affair. */
  takes(place: Place, question: Question): boolean {
    if (this.#alone || this.#doomed || this.#state === 'private' || place.selector !== this.place.selector)
      return false
    const { signature } = this.#plan
    const fitting = signature === '' ? question.range === undefined : signature === signatureOf(question)
    if (!fitting) return false
    if (this.#state === 'asking') return flavourOf(question) === flavourOf(this.#asker)
    if (this.#state !== 'sharing' || !this.#body?.joinable) return false
    return !question.hasAuthorization || this.#judgement!.shared
  }

  /** Begins. `cx` lends its state and forward hooks. */
  start(cx: Context, question: Question): void {
    this.#asker = question
    this.#engine.flights.add(this)
    void this.#ask(cx)
  }

  /** The answer, for one more request. */
  join(cx: Context, question: Question): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#state === 'sharing') return resolve(this.#shared(cx, question, false))
      const { signal } = cx
      const waiter: Waiter = { cx, question, resolve, reject, onAbort: () => this.#gone(waiter) }
      this.#waiters.push(waiter)
      for (const { status, headers } of this.#interim) cx.inform(status, headers.clone())
      if (signal.aborted) this.#gone(waiter)
      else signal.addEventListener('abort', waiter.onAbort, { once: true })
    })
  }

  /** What comes is not to be stored, and nobody may join: it was purged while it was on its way. */
  doom(): void {
    this.#doomed = true
  }

  /** Dooms it if it has this tag. */
  doomTag(tag: string): void {
    if (this.#state === 'sharing' && tagsOf(this.#headers).includes(tag)) this.doom()
    else if (this.#purgedTags.size < MOST_PURGED_TAGS) this.#purgedTags.add(tag)
    else this.doom()
  }

  // 1
  async #ask(cx: Context): Promise<void> {
    const { place } = this
    const sub = subrequest(cx, {
      method: 'GET',
      target: place.target,
      scheme: place.scheme,
      authority: place.authority,
      headers: this.#plan.headers,
      inform: (status, headers) => this.#inform(status, headers),
    })
    this.#abort = sub.abort
    this.#requestTime = this.#engine.now()
    let reply: Reply
    try {
      reply = await this.#inner(sub.context)
    } catch (cause) {
      for (const waiter of this.#take()) waiter.reject(cause)
      return this.#finish()
    }
    if (this.#state === 'over') return discard(reply)
    this.#responseTime = this.#engine.now()
    this.#answered(cx, reply)
  }

  #inform(status: number, headers: HeaderList): void {
    if (this.#interim.length < MOST_INTERIM) this.#interim.push({ status, headers })
    for (const { cx } of this.#waiters) cx.inform(status, headers.clone())
  }

  // 2
  #answered(cx: Context, reply: Reply): void {
    const { kind, entry } = this.#plan
    if (entry !== null && this.#useStale(entry, reply)) {
      discard(reply)
      return this.#finish()
    }
    if (reply.error) return this.#failed(reply)
    if (kind === 'validate' && reply.status === 304) return this.#revalidated(cx, reply, entry!)
    if (kind === 'complete' && (reply.status === 206 || reply.status === 416)) {
      const whole = completion(entry!, reply)
      if (whole === null) return this.#restart(cx, reply, entry!)
      return this.#received(whole.reply, whole.prefix, whole.suffix)
    }
    this.#received(reply, null, null)
  }

  /** Gives the stale entry to all who may have it; true when nobody is left. */
  #useStale(entry: Entry, reply: Reply): boolean {
    const occasion = occasionOf(reply)
    if (occasion === null || entry.part !== null) return false
    const engine = this.#engine
    const staleness = stalenessOf(entry, engine.now()) / 1000
    const rest: Waiter[] = []
    for (const waiter of this.#take()) {
      const asked = waiter.question.directives?.staleIfError ?? null
      if (!mayUseStale(occasion, staleness, entry.said, asked, engine.rules.stale)) rest.push(waiter)
      else waiter.resolve(engine.stored(waiter.cx, waiter.question, entry, 'stale', occasion, reply.status))
    }
    this.#waiters = rest
    for (const waiter of rest) waiter.cx.signal.addEventListener('abort', waiter.onAbort, { once: true })
    return rest.length === 0
  }

  /** The origin is out of reach: that answers everybody, and nobody asks again in vain. */
  #failed(reply: Reply): void {
    const bytes = reply.body instanceof Uint8Array ? reply.body : null
    if (bytes === null) discard(reply)
    for (const { cx, resolve } of this.#take()) {
      const made: Reply = { ...reply, headers: reply.headers.clone(), body: bytes }
      resolve(this.#engine.fetched(cx, made, 'miss', 'failed', this.#plan.forward, false))
    }
    this.#finish()
  }

  #restart(cx: Context, reply: Reply, useless: Entry): void {
    discard(reply)
    this.#engine.level1.remove(useless)
    this.#plan = planWhole(this.request, this.#plan.forward)
    void this.#ask(cx)
  }

  #revalidated(cx: Context, reply: Reply, entry: Entry): void {
    const engine = this.#engine
    if (!selects(reply.headers, entry.validators)) return this.#restart(cx, reply, entry)
    discard(reply)
    const without = engine.rules.judge.setCookie === 'store' ? [] : ['set-cookie']
    const headers = new HeaderList(updatedFields(entry.raw, reply.headers, without))
    // Without a Date of its own, the validation is as old as its receipt.
    if (!reply.headers.has('date')) headers.set('Date', new Date(this.#responseTime).toUTCString())
    const judgement = judge(
      entry.status,
      headers,
      { ...this.#asked(), age: ageValue(reply.headers) },
      engine.rules.judge,
    )
    const next = renewedEntry(entry, headers.raw, judgement, this.request, this.tick)
    if (judgement.notStored !== null) engine.level1.remove(entry)
    else if (!this.#isDoomed(next.tags)) engine.renew(entry, next)
    const now = engine.now()
    const shared = judgement.notStored === null && isFresh(next, now)
    this.#remember(shared, null)
    this.#give((waiter, first) =>
      first || (shared && varyKey(next.varyNames, waiter.cx.request.headers) === next.varyKey)
        ? engine.stored(waiter.cx, waiter.question, next, 'revalidated', 'stale', 304)
        : null,
    )
    this.#finish()
  }

  // 3, 4
  #received(reply: Reply, prefix: Uint8Array | null, suffix: Uint8Array | null): void {
    const engine = this.#engine
    const { status, headers, body } = reply
    const judgement = judge(status, headers, this.#asked(), engine.rules.judge)
    const length = body instanceof Uint8Array ? body.length : seconds(headers.get('content-length'))
    this.#judgement = judgement
    this.#status = status
    // What hooks do to the reply is not what was received.
    this.#headers = headers.clone()
    const reason =
      judgement.notStored ??
      this.#whyNotPart(status, headers, length) ??
      (body !== null && 'splice' in body ? 'tunnel' : null) ??
      (length !== null && length > engine.rules.maxEntryBytes ? 'too-large' : null) ??
      (this.#isDoomed(tagsOf(headers)) ? 'purged' : null)
    const shareable = reason === null && judgement.fresh
    this.#remember(shareable, reason)
    if (reason !== null) {
      // What it was asked to replace is no longer what the origin says.
      if (this.#plan.entry !== null && status < 500) engine.level1.remove(this.#plan.entry)
      this.#giveOut(reply, reason, false)
      return this.#finish()
    }
    this.#state = shareable ? 'sharing' : 'private'
    if (body === null) {
      this.whole(null)
      return this.#giveOut(reply, reason, shareable)
    }
    this.#body = new SharedBody(this, length, prefix, suffix)
    this.#giveOut(reply, reason, shareable)
    this.#body.begin(body instanceof Uint8Array ? sourceOf(body) : (body as Source))
  }

  /** Others shall not wait for what they cannot have: not now, and not the next time. */
  #remember(shareable: boolean, reason: string | null): void {
    if (this.#plan.kind === 'as-asked') return
    if (shareable) this.#engine.unshared.forget(this.place.key, this.#asker)
    else if (reason !== 'purged') this.#engine.unshared.remember(this.place.key, this.#asker)
  }

  #giveOut(reply: Reply, reason: string | null, shareable: boolean): void {
    const stored = reason === null
    const why = reason ?? (shareable ? '' : 'revalidate')
    let given = false
    this.#give((waiter, first) => {
      if (!first && !(shareable && this.#mayHave(waiter))) return null
      given ||= first
      if (this.#body !== null) return this.#shared(waiter.cx, waiter.question, first, why)
      const made = first ? reply : { ...reply, headers: reply.headers.clone() }
      return this.#engine.fetched(waiter.cx, made, first ? 'miss' : 'joined', why, this.#plan.forward, stored)
    })
    if (!given && !stored) discard(reply)
  }

  #mayHave({ cx, question }: Waiter): boolean {
    const { varyNames, shared } = this.#judgement!
    if (question.hasAuthorization && !shared) return false
    return varyKey(varyNames, cx.request.headers) === varyKey(varyNames, this.request)
  }

  /** A reply that reads the shared body. The first has the head as it came; others as it is stored. */
  #shared(cx: Context, question: Question, first: boolean, reason = ''): Reply {
    const { validators, said, initialAge } = this.#judgement!
    const { method } = cx.request
    let headers = this.#headers.clone()
    if (!first) {
      headers = new HeaderList(storedFields(headers, said.withheld))
      if (initialAge > 0) headers.raw.push('Age', String(Math.floor(initialAge / 1000)))
    }
    const status = first ? 'miss' : 'joined'
    const made: Reply = { status: this.#status, headers, body: null }
    // With conditions of its own, the origin has answered them already.
    const judged = this.#plan.kind === 'as-asked'
    if (
      !judged &&
      this.#status === 200 &&
      isNotModified(question.ifNoneMatch, question.ifModifiedSince, validators)
    ) {
      made.status = 304
      made.headers = new HeaderList(notModifiedFields(headers.raw))
    } else if (method !== 'HEAD') made.body = this.#body!.reader()
    return this.#engine.fetched(cx, made, status, reason, this.#plan.forward, true)
  }

  #whyNotPart(status: number, headers: HeaderList, length: number | null): string | null {
    if (status === 304) return 'not-modified'
    if (status !== 206) return null
    this.#part = parseContentRange(headers.get('content-range'))
    // Several ranges, or a range that the bytes do not bear out.
    if (this.#plan.kind !== 'as-asked' || this.#part === null) return 'partial'
    return length !== null && length !== lengthOf(this.#part) ? 'partial' : null
  }

  #asked(): Parameters<typeof judge>[2] {
    return {
      noStore: this.#asker.directives?.noStore ?? false,
      hasAuthorization: this.#asker.hasAuthorization,
      hasCookie: this.#asker.hasCookie,
      requestTime: this.#requestTime,
      responseTime: this.#responseTime,
    }
  }

  #isDoomed(tags: readonly string[]): boolean {
    return this.#doomed || tags.some(tag => this.#purgedTags.has(tag))
  }

  // The body's owner.

  room(bytes: number): boolean {
    const { rules, level1 } = this.#engine
    if (this.#reserved + bytes > rules.maxEntryBytes || !level1.reserve(bytes)) return false
    this.#reserved += bytes
    return true
  }

  whole(body: Uint8Array | null): void {
    this.#release()
    const judgement = this.#judgement!
    if (this.#part !== null && body?.length !== lengthOf(this.#part)) return this.#finish()
    const entry = makeEntry({
      key: this.place.key,
      selector: this.place.selector,
      request: this.request,
      status: this.#status,
      headers: this.#headers,
      body,
      part: this.#part,
      judgement,
      tick: this.tick,
    })
    if (!this.#isDoomed(entry.tags)) this.#engine.commit(entry)
    this.#finish()
  }

  lost(): void {
    this.#release()
    this.#finish()
  }

  deserted(): boolean {
    return this.#background
  }

  #release(): void {
    this.#engine.level1.release(this.#reserved)
    this.#reserved = 0
  }

  // Those who wait.

  #take(): Waiter[] {
    const waiters = this.#waiters
    this.#waiters = []
    for (const { cx, onAbort } of waiters) cx.signal.removeEventListener('abort', onAbort)
    return waiters
  }

  /** Answers all. Whoever gets `null` asks again, alone. */
  #give(answer: (waiter: Waiter, first: boolean) => Reply | null): void {
    const waiters = this.#take()
    const replies = waiters.map((waiter, index) => answer(waiter, index === 0))
    for (const [index, waiter] of waiters.entries()) {
      const reply = replies[index]
      if (reply) waiter.resolve(reply)
      else this.#again(waiter)
    }
  }

  #again({ cx, question, resolve, reject }: Waiter): void {
    try {
      resolve(this.#engine.again(this.#inner, cx, question, this.place))
    } catch (cause) {
      reject(cause)
    }
  }

  #gone(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter(other => other !== waiter)
    const reason = waiter.cx.signal.reason
    const error = reason instanceof ProxyError ? reason : clientClosed()
    waiter.resolve({ status: 499, headers: new HeaderList(), body: null, error })
    if (this.#waiters.length > 0 || this.#background || this.#state !== 'asking') return
    this.#finish()
    this.#abort?.(error)
  }

  #finish(): void {
    this.#state = 'over'
    this.#engine.flights.remove(this)
  }
}

/** A reply that nobody will read must not keep its origin busy. */
export function discard({ body }: Reply): void {
  if (body !== null && 'start' in body)
    body.start({ write: () => true, end() {}, fail() {} }).cancel(clientClosed())
}

function clientClosed(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })
}

function occasionOf(reply: Reply): StaleOccasion | null {
  if (reply.error) return reply.error.source === 'client' ? null : 'unreachable'
  return [500, 502, 503, 504].includes(reply.status) ? 'error' : null
}

function sourceOf(bytes: Uint8Array): Source {
  return {
    length: bytes.length,
    start(sink) {
      if (bytes.length > 0) sink.write(bytes)
      sink.end()
      return { pause() {}, resume() {}, cancel() {} }
    },
  }
}
