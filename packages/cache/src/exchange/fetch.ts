/**
 * One request to the origin, and all who wait for it.
 *   1. the origin is asked, with no client of its own: whoever leaves, the others get their answer
 *   2. the head decides: stale after all, 304, a missing part, a failure, or a new response
 *   3. a response that all may have is given to all as it arrives, and stored when it is whole
 *   4. one that only the first may have goes to the first; the others ask for themselves, at once and side by side
 */
import {
  type Context,
  type Handler,
  HeaderList,
  type ProxyError,
  type Reply,
  type Source,
  subrequest,
} from '@postern/core'
import { selects } from '../policy/conditional.ts'
import { seconds } from '../policy/directives.ts'
import { fixLifetime, withoutCredentials } from '../policy/fixed.ts'
import { type Asked, type Judgement, judge } from '../policy/judge.ts'
import type { Place } from '../policy/key.ts'
import { lengthOf, type Part, parseContentRange } from '../policy/range.ts'
import { flavourOf, type Question } from '../policy/request.ts'
import { mayUseStale } from '../policy/stale.ts'
import { varyKey } from '../policy/vary.ts'
import { type Entry, isFresh, stalenessOf, tagsOf } from '../store/entry.ts'
import type { Level2 } from '../store/level2.ts'
import { completion } from './completion.ts'
import { Doom } from './doom.ts'
import type { Engine } from './engine.ts'
import { Landing } from './landing.ts'
import { type FetchPlan, planFetch, planWhole, signatureOf } from './plan.ts'
import { present } from './present.ts'
import { isPassing, refusalOf } from './refusal.ts'
import { renew } from './renewal.ts'
import { discard, occasionOf, sourceOf } from './replies.ts'
import { SharedBody } from './shared-body.ts'
import { isFor, type Waiter, Waiters } from './waiters.ts'

export class Fetch {
  readonly place: Place
  /** Of the request that it was begun for; `Vary` is counted from them. */
  readonly request: HeaderList
  readonly tick: number
  readonly #engine: Engine
  readonly #inner: Handler
  readonly #alone: boolean
  readonly #background: boolean
  #plan: FetchPlan
  readonly #waiters: Waiters = new Waiters(error => this.#deserted(error))
  #abort: ((error: ProxyError) => void) | null = null
  #requestTime = 0
  #responseTime = 0
  #asker!: Question
  #askedBy: Context | null = null
  /** `private`: it is being stored, but is of no use to others without asking. */
  #state: 'asking' | 'sharing' | 'private' | 'over' = 'asking'
  readonly #doom = new Doom()
  #since: number | null = null
  // Once the head is judged:
  #judgement: Judgement | null = null
  #status = 0
  #headers = new HeaderList()
  #part: Part | null = null
  #body: SharedBody | null = null

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

  /** Once they are known. */
  get varyNames(): readonly string[] | null {
    return this.#state === 'sharing' ? this.#judgement!.varyNames : null
  }

  /** True when a request for the same key can wait for this one. `Vary` is the caller's affair. */
  takes(place: Place, question: Question): boolean {
    if (
      this.#alone ||
      this.#doom.whole ||
      this.#state === 'private' ||
      place.selector !== this.place.selector
    )
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
    this.#askedBy = this.#background ? null : cx
    this.#engine.flights.add(this)
    if (this.#engine.level2 === null) this.#ask(cx)
    else this.#lookUp(cx, this.#engine.level2).catch(cause => this.#crash(cause))
  }

  /** The answer, for one more request. */
  join(cx: Context, question: Question): Promise<Reply> {
    if (this.#state === 'sharing') return Promise.resolve(this.#shared(cx, question, false))
    return this.#waiters.add(cx, question)
  }

  /** What comes is not to be stored, and nobody may join: it was purged while it was on its way. */
  doom(): void {
    this.#doom.whole = true
  }

  doomTag(tag: string): void {
    if (this.#state === 'sharing' && tagsOf(this.#headers).includes(tag)) this.doom()
    else this.#doom.tag(tag)
  }

  // Another process may have it, or this one before it was restarted.
  async #lookUp(cx: Context, level2: Level2): Promise<void> {
    const engine = this.#engine
    const { entry, generation } = await level2.find(this.place, this.request, this.tick)
    if (this.#state === 'over') return
    this.#since = generation
    const known = this.#plan.entry
    if (entry === null || this.#doom.takes(entry.tags) || (known && known.responseTime >= entry.responseTime))
      return this.#ask(cx)
    engine.level1.put(entry)
    const now = engine.now()
    const rest: Waiter[] = []
    for (const waiter of this.#waiters.take()) {
      const { cx: its, question } = waiter
      if (!isFor(entry, this.place.selector, waiter)) this.#again(waiter)
      else if (!engine.answers(entry, question, its.request.method, now)) rest.push(waiter)
      else waiter.resolve(engine.stored(its, question, entry, 'hit', 'second-level', null, now))
    }
    if (rest.length === 0 && !(this.#background && !isFresh(entry, now))) return this.#finish()
    this.#waiters.putBack(rest)
    this.#plan = planFetch(entry, this.#asker, this.request, 'stale')
    this.#ask(cx)
  }

  // 1
  #ask(cx: Context): void {
    const { place } = this
    const sub = subrequest(cx, {
      method: 'GET',
      target: place.target,
      scheme: place.scheme,
      authority: place.authority,
      headers: place.fixed ? withoutCredentials(this.#plan.headers) : this.#plan.headers,
      inform: (status, headers) => this.#waiters.inform(status, headers),
    })
    this.#abort = sub.abort
    this.#requestTime = this.#engine.now()
    const answered = (reply: Reply): void => {
      if (this.#state === 'over') return discard(reply)
      if (cx === this.#askedBy) sub.adopt()
      this.#responseTime = this.#engine.now()
      this.#answered(cx, reply)
    }
    try {
      const reply = this.#inner(sub.context)
      if (reply instanceof Promise) reply.then(answered).catch(cause => this.#crash(cause))
      else answered(reply)
    } catch (cause) {
      this.#crash(cause)
    }
  }

  /** A fault of the program: whoever waits hears of it. */
  #crash(cause: unknown): void {
    this.#finish()
    for (const waiter of this.#waiters.take()) waiter.reject(cause)
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
    for (const waiter of this.#waiters.take()) {
      const asked = waiter.question.directives?.staleIfError ?? null
      const may = mayUseStale(occasion, staleness, entry.said, asked, engine.rules.stale)
      if (!may || !isFor(entry, this.place.selector, waiter)) rest.push(waiter)
      else waiter.resolve(engine.stored(waiter.cx, waiter.question, entry, 'stale', occasion, reply.status))
    }
    this.#waiters.putBack(rest)
    return rest.length === 0
  }

  /** The origin is out of reach: that answers everybody, and nobody asks again in vain. */
  #failed(reply: Reply): void {
    const bytes = reply.body instanceof Uint8Array ? reply.body : null
    if (bytes === null) discard(reply)
    for (const { cx, resolve } of this.#waiters.take()) {
      const made: Reply = { ...reply, headers: reply.headers.clone(), body: bytes }
      resolve(this.#engine.fetched(cx, made, 'miss', 'failed', this.#plan.forward, false))
    }
    this.#finish()
  }

  #restart(cx: Context, reply: Reply, useless: Entry): void {
    discard(reply)
    this.#engine.level1.remove(useless)
    this.#plan = planWhole(this.request, this.#plan.forward)
    this.#ask(cx)
  }

  #revalidated(cx: Context, reply: Reply, entry: Entry): void {
    const engine = this.#engine
    if (!selects(reply.headers, entry)) return this.#restart(cx, reply, entry)
    discard(reply)
    const { judge: rules } = engine.rules
    const renewed = renew(entry, reply.headers, this.request, this.#asked(), this.tick, rules)
    const next = renewed.entry
    if (renewed.notStored !== null) engine.level1.remove(entry)
    else if (!this.#doom.takes(next.tags)) engine.renew(entry, next, this.#since)
    const shared = renewed.notStored === null && isFresh(next, engine.now())
    this.#remember(shared)
    this.#give((waiter, isAsker) =>
      isAsker || (shared && varyKey(next.varyNames, waiter.cx.request.headers) === next.varyKey)
        ? engine.stored(waiter.cx, waiter.question, next, 'revalidated', 'stale', 304)
        : null,
    )
    this.#finish()
  }

  // 3, 4
  #received(reply: Reply, prefix: Uint8Array | null, suffix: Uint8Array | null): void {
    const engine = this.#engine
    const { status, headers, body } = reply
    if (this.place.fixed) fixLifetime(status, headers, engine.rules.judge.targets)
    const judgement = judge(status, headers, this.#asked(), engine.rules.judge)
    const length = body instanceof Uint8Array ? body.length : seconds(headers.get('content-length'))
    // Several ranges, or a range that nobody asked for or that the bytes do not bear out, is not stored.
    const part = this.#plan.kind === 'as-asked' ? parseContentRange(headers.get('content-range')) : null
    this.#part = status === 206 && part && (length ?? lengthOf(part)) === lengthOf(part) ? part : null
    this.#judgement = judgement
    this.#status = status
    // What hooks do to the reply is not what was received.
    this.#headers = headers.clone()
    const doomed = this.#doom.takes(tagsOf(headers))
    const reason = refusalOf(reply, judgement, this.#part, length, engine.rules.maxEntryBytes, doomed)
    const shareable = reason === null && judgement.fresh
    if (!isPassing(reason)) this.#remember(shareable)
    if (reason !== null) {
      // What it was asked to replace is no longer what the origin says.
      const gone = status < 400 || status === 404 || status === 410
      if (this.#plan.entry !== null && gone && !isPassing(reason)) engine.level1.remove(this.#plan.entry)
      this.#giveOut(reply, reason, false)
      return this.#finish()
    }
    this.#state = shareable ? 'sharing' : 'private'
    if (body === null) {
      this.#landing(status).whole(null)
      return this.#giveOut(reply, reason, shareable)
    }
    this.#body = new SharedBody(this.#landing(status), length, prefix, suffix)
    this.#giveOut(reply, reason, shareable)
    this.#body.begin(sourceOf(body as Uint8Array | Source))
  }

  /** Others shall not wait for what they cannot have: not now, and not the next time. */
  #remember(shareable: boolean): void {
    if (this.#plan.kind === 'as-asked') return
    const { unshared } = this.#engine
    if (shareable) unshared.forget(this.place.key, this.#asker)
    else unshared.remember(this.place.key, this.#asker)
  }

  #giveOut(reply: Reply, reason: string | null, shareable: boolean): void {
    const stored = reason === null
    const why = reason ?? (shareable ? '' : 'revalidate')
    // The same question of the same kind of client: a 304 without a body says the same to all.
    const forAll = shareable || (reason === 'not-modified' && this.#isImpersonal(reply))
    let given = false
    this.#give((waiter, isAsker) => {
      if (!isAsker && !(forAll && this.#mayHave(waiter))) return null
      given ||= isAsker
      if (this.#body !== null) return this.#shared(waiter.cx, waiter.question, isAsker, why)
      const made = isAsker ? reply : { ...reply, headers: reply.headers.clone() }
      const status = isAsker ? 'miss' : 'joined'
      return this.#engine.fetched(waiter.cx, made, status, why, this.#plan.forward, stored)
    })
    if (!given && !stored) discard(reply)
  }

  #isImpersonal({ headers }: Reply): boolean {
    const { isPrivate, noStore } = this.#judgement!.said
    return !(isPrivate || noStore || headers.has('set-cookie') || this.#asker.hasAuthorization)
  }

  #mayHave({ cx, question }: Waiter): boolean {
    const { varyNames, shared } = this.#judgement!
    if (question.hasAuthorization && !shared) return false
    return varyKey(varyNames, cx.request.headers) === varyKey(varyNames, this.request)
  }

  /** It reads the shared body. */
  #shared(cx: Context, question: Question, isAsker: boolean, reason = ''): Reply {
    // With conditions of its own, the origin has judged them already.
    const conditional = this.#plan.kind !== 'as-asked'
    const made = present(this.#status, this.#headers, this.#judgement!, question, isAsker, conditional)
    if (made.status !== 304 && cx.request.method !== 'HEAD') made.body = this.#body!.reader()
    const status = isAsker ? 'miss' : 'joined'
    return this.#engine.fetched(cx, made, status, reason, this.#plan.forward, true)
  }

  #asked(): Asked {
    return {
      noStore: this.#asker.directives?.noStore ?? false,
      hasAuthorization: this.#asker.hasAuthorization,
      hasCookie: this.#asker.hasCookie,
      requestTime: this.#requestTime,
      responseTime: this.#responseTime,
    }
  }

  #landing(status: number): Landing {
    return new Landing(this.#engine, {
      place: this.place,
      request: this.request,
      status,
      headers: this.#headers,
      part: this.#part,
      judgement: this.#judgement!,
      tick: this.tick,
      since: this.#since,
      background: this.#background,
      isDoomed: tags => this.#doom.takes(tags),
      done: () => this.#finish(),
    })
  }

  // Those who wait.

  /** Answers all. Whoever gets `null` asks again, alone. */
  #give(answer: (waiter: Waiter, isAsker: boolean) => Reply | null): void {
    const waiters = this.#waiters.take()
    // What was made for one must never go to the next in line, should the one have left.
    const replies = waiters.map(waiter => answer(waiter, waiter.cx === this.#askedBy))
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

  #deserted(error: ProxyError): void {
    if (this.#background || this.#state !== 'asking') return
    this.#finish()
    this.#abort?.(error)
  }

  #finish(): void {
    this.#state = 'over'
    this.#engine.flights.remove(this)
  }
}
