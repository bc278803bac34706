/** What every request to one cache shares, and the way of a GET or HEAD through it. */
import {
  type Awaitable,
  type Context,
  type Handler,
  HeaderList,
  type Reply,
  refuse,
  subrequest,
} from '@postern/core'
import { Purger } from '../operate/purge.ts'
import { type CacheDecision, cacheStatus, type ForwardReason } from '../policy/cache-status.ts'
import type { Directives } from '../policy/directives.ts'
import type { Asked, JudgeRules } from '../policy/judge.ts'
import { isPlain, type KeyRules, type Place, placeOf } from '../policy/key.ts'
import { type Question, QuestionReader } from '../policy/request.ts'
import { forbidsStale, mayUseStale, type StaleRules } from '../policy/stale.ts'
import { headDescribes } from '../policy/update.ts'
import type { CacheStore } from '../store/cache-store.ts'
import { ageOf, type Entry, isFresh, joinedEntry, stalenessOf } from '../store/entry.ts'
import { Level1, type Level1Bounds } from '../store/level1.ts'
import { Level2 } from '../store/level2.ts'
import { Shortcut } from '../store/shortcut.ts'
import { answerFrom, holds } from './answer.ts'
import { Fetch } from './fetch.ts'
import { Flights } from './flights.ts'
import { planFetch, planWhole } from './plan.ts'
import { renew } from './renewal.ts'
import { Unshared } from './unshared.ts'

/** Options of a cache, checked and complete. Milliseconds unless said otherwise. */
export interface EngineRules extends Level1Bounds {
  readonly judge: JudgeRules
  readonly stale: StaleRules
  readonly key: KeyRules
  readonly honourRequests: boolean
  readonly maxEntryBytes: number
  /** Bodies up to this length are kept as text, in the heap; larger ones are buffers. */
  readonly mostText: number
  readonly hitForMiss: number
  /** Name in `Cache-Status`; `null` writes none. */
  readonly statusName: string | null
  readonly store: CacheStore | null
  readonly storeTimeout: number
  readonly onDecision: ((decision: CacheDecision, cx: Context) => void) | null
  readonly now: () => number
}

/** Bytes of the bound for each slot of the shortcut; a slot takes about 600 with the fields that are ready to be sent. */
const SLOT_SHARE = 16_384
const MOST_SLOTS = 65_536

export class Engine {
  readonly rules: EngineRules
  readonly level1: Level1
  readonly level2: Level2 | null
  readonly flights: Flights = new Flights()
  readonly unshared: Unshared
  readonly questions: QuestionReader
  readonly purge: Purger
  readonly now: () => number
  readonly #shortcut: Shortcut | null
  #tick = 0
  #looks = 0

  constructor(rules: EngineRules) {
    this.rules = rules
    this.now = rules.now
    this.level1 = new Level1(rules)
    this.level2 =
      rules.store && new Level2(rules.store, rules.storeTimeout, rules.judge.targets, rules.mostText)
    this.unshared = new Unshared(rules.hitForMiss, rules.now)
    this.purge = new Purger(this.level1, this.level2, this.flights, rules.key, rules.now)
    this.#shortcut = isPlain(rules.key) ? new Shortcut(slotsFor(rules.maxBytes)) : null
    this.questions = new QuestionReader(rules.key.headers, rules.honourRequests)
  }

  nextTick(): number {
    return ++this.#tick
  }

  place(cx: Context): Place {
    return placeOf(cx.request, this.rules.key)
  }

  /** Answers from the store, or fetches. */
  read(inner: Handler, cx: Context, question: Question): Awaitable<Reply> {
    const direct = this.#shortcut?.find(cx.request)
    if (direct !== undefined) return this.#use(inner, cx, question, null, direct)
    const place = this.place(cx)
    const entry = this.level1.find(place.key, place.selector, cx.request.headers)
    if (entry === undefined) {
      const forward = this.level1.has(place.key) ? 'vary-miss' : 'uri-miss'
      return this.#miss(inner, cx, question, place, null, forward)
    }
    // One in eight: what is asked for often is soon there, and a flood of others does not drive it out each time.
    if ((++this.#looks & 7) === 0) this.#shortcut?.remember(cx.request, place, entry)
    return this.#use(inner, cx, question, place, entry)
  }

  /** Answers with an entry, or asks the origin about it. `known`: its place, if that is known already. */
  #use(inner: Handler, cx: Context, question: Question, known: Place | null, entry: Entry): Awaitable<Reply> {
    const now = this.now()
    const { directives } = question
    const plain = directives === null && !question.hasAuthorization && entry.part === null
    if (plain && isFresh(entry, now)) return this.stored(cx, question, entry, 'hit', '', null, now)
    const place = known ?? this.place(cx)
    if (question.hasAuthorization && !entry.shared)
      return this.#miss(inner, cx, question, place, null, 'request')
    if (!holds(entry, question, cx.request.method))
      return this.#miss(inner, cx, question, place, entry, 'partial')
    const fresh = isFresh(entry, now)
    if (directives !== null) {
      if (isRefusedBy(directives, entry, now)) return this.#miss(inner, cx, question, place, entry, 'request')
      if (!fresh && toleratesStale(directives, entry, now))
        return this.stored(cx, question, entry, 'stale', 'max-stale', null, now)
    }
    if (fresh) return this.stored(cx, question, entry, 'hit', '', null, now)
    if (this.#refreshes(inner, cx, question, place, entry, now))
      return this.stored(cx, question, entry, 'stale', 'revalidating', null, now)
    return this.#miss(inner, cx, question, place, entry, 'stale')
  }

  /** The same for one who has waited in vain: what is stored by now, or a fetch that nobody joins. */
  again(inner: Handler, cx: Context, question: Question, place: Place): Awaitable<Reply> {
    const { headers, method } = cx.request
    const found = this.level1.find(place.key, place.selector, headers)
    const entry =
      found && (!question.hasAuthorization || found.shared) && holds(found, question, method) ? found : null
    if (entry !== null && isFresh(entry, this.now()))
      return this.stored(cx, question, entry, 'joined', '', null)
    const forward = entry === null ? 'uri-miss' : 'stale'
    if (method === 'HEAD') return this.#head(inner, cx, question, place, entry, forward)
    return this.#fetch(inner, cx, question, place, entry, forward, true)
  }

  /** A reply from an entry, with its decision told. */
  stored(
    cx: Context,
    question: Question,
    entry: Entry,
    status: CacheDecision['status'],
    reason: string,
    forwardStatus: number | null,
    now: number = this.now(),
  ): Reply {
    const reply = answerFrom(entry, question, cx.request.method, now)
    if (this.#tells || 'cache' in cx.state) {
      const ttl = (entry.lifetime - ageOf(entry, now)) / 1000
      const forward = forwardStatus === null ? null : 'stale'
      this.#tell(cx, reply, { status, reason, forward, forwardStatus, ttl, stored: false })
    }
    return reply
  }

  /** A reply that came from the origin, with its decision told. */
  fetched(
    cx: Context,
    reply: Reply,
    status: CacheDecision['status'],
    reason: string,
    forward: ForwardReason,
    stored: boolean,
  ): Reply {
    if (this.#tells || 'cache' in cx.state)
      this.#tell(cx, reply, { status, reason, forward, forwardStatus: null, ttl: null, stored })
    return reply
  }

  /** True when an entry can answer a request as it is. */
  answers(entry: Entry, question: Question, method: string, now: number): boolean {
    if (question.hasAuthorization && !entry.shared) return false
    if (question.directives !== null && isRefusedBy(question.directives, entry, now)) return false
    return isFresh(entry, now) && holds(entry, question, method)
  }

  /**
   * Stores what a fetch brought; a part joins the part that is there.
   * @param since generation of the second level before the origin was asked; `null` keeps it out of there
   */
  commit(entry: Entry, since: number | null = null): void {
    this.level2?.write(entry, since)
    if (entry.part === null) return void this.level1.put(entry)
    const other = this.level1
      .under(entry.key)
      .find(one => one.selector === entry.selector && one.varyKey === entry.varyKey)
    // A part does not take the place of a whole that can be used.
    if (other !== undefined && other.part === null && isFresh(other, this.now())) return
    this.level1.put((other?.part && joinedEntry(other, entry)) || entry)
  }

  renew(old: Entry, next: Entry, since: number | null): void {
    this.level2?.write(next, since)
    if (!this.level1.replace(old, next)) this.level1.put(next)
  }

  #miss(
    inner: Handler,
    cx: Context,
    question: Question,
    place: Place,
    entry: Entry | null,
    forward: ForwardReason,
  ): Awaitable<Reply> {
    if (question.directives?.onlyIfCached) {
      // RFC 9111, 5.2.1.7.
      return this.fetched(cx, refuse(504, 'only-if-cached'), 'bypass', 'only-if-cached', 'request', false)
    }
    if (cx.request.method !== 'HEAD') {
      const known = entry?.varyNames ?? this.level1.newest(place.key)?.varyNames ?? []
      const running = this.flights.find(place, question, cx.request.headers, known)
      if (running !== undefined) return running.join(cx, question)
      const alone = question.directives?.noStore || this.unshared.has(place.key, question)
      return this.#fetch(inner, cx, question, place, entry, forward, alone)
    }
    return this.#head(inner, cx, question, place, entry, forward)
  }

  #fetch(
    inner: Handler,
    cx: Context,
    question: Question,
    place: Place,
    entry: Entry | null,
    forward: ForwardReason,
    alone: boolean,
  ): Promise<Reply> {
    const { headers } = cx.request
    const plan = planFetch(entry, question, headers, forward)
    const fetch = new Fetch(this, inner, place, plan, headers, { alone, background: false })
    const reply = fetch.join(cx, question)
    fetch.start(cx, question)
    return reply
  }

  /** True when the stale entry may be used while a fetch in the background renews it (RFC 5861, 3). */
  #refreshes(
    inner: Handler,
    cx: Context,
    question: Question,
    place: Place,
    entry: Entry,
    now: number,
  ): boolean {
    const staleness = stalenessOf(entry, now) / 1000
    if (!mayUseStale('revalidating', staleness, entry.said, null, this.rules.stale)) return false
    const { headers } = cx.request
    const whole: Question = { ...question, ...UNCONDITIONAL }
    if (this.flights.find(place, whole, headers, entry.varyNames) === undefined) {
      const plan = planFetch(entry, whole, headers, 'stale')
      const unasked = plan.kind === 'plain' ? planWhole(headers, 'stale') : plan
      new Fetch(this, inner, place, unasked, headers, { alone: false, background: true }).start(cx, whole)
    }
    return true
  }

  /** A HEAD is forwarded as one; its answer may renew what is stored for GET, or show that it is old (RFC 9111, 4.3.5). */
  async #head(
    inner: Handler,
    cx: Context,
    question: Question,
    place: Place,
    entry: Entry | null,
    forward: ForwardReason,
  ): Promise<Reply> {
    const requestTime = this.now()
    const tick = this.nextTick()
    const { target, scheme, authority } = place
    const sub = subrequest(cx, {
      target,
      scheme,
      authority,
      inform: (status, fields) => cx.inform(status, fields),
    })
    const onAbort = (): void => sub.abort(cx.signal.reason)
    cx.signal.addEventListener('abort', onAbort, { once: true })
    const reply = await inner(sub.context)
    cx.signal.removeEventListener('abort', onAbort)
    sub.adopt()
    const asked = { ...question, noStore: false, requestTime, responseTime: this.now() }
    if (entry !== null && entry.part === null && reply.status === 200 && !reply.error)
      this.#learn(entry, reply, cx, asked, tick)
    return this.fetched(cx, reply, 'miss', 'head', forward, false)
  }

  #learn(entry: Entry, reply: Reply, cx: Context, asked: Asked, tick: number): void {
    if (!headDescribes(reply.headers, new HeaderList([...entry.raw]))) {
      if (entry.purgedAt === 0) entry.purgedAt = asked.responseTime
      return
    }
    const renewed = renew(entry, reply.headers, cx.request.headers, asked, tick, this.rules.judge)
    if (entry.status !== 200 || renewed.notStored !== null) this.level1.remove(entry)
    else this.level1.replace(entry, renewed.entry)
  }

  get #tells(): boolean {
    return this.rules.onDecision !== null || this.rules.statusName !== null
  }

  #tell(cx: Context, reply: Reply, decision: CacheDecision): void {
    const { onDecision, statusName } = this.rules
    if (statusName !== null) reply.headers.append('Cache-Status', cacheStatus(statusName, decision))
    const state = cx.state as { cache?: CacheDecision | null }
    if ('cache' in state) state.cache = decision
    onDecision?.(decision, cx)
  }
}

const UNCONDITIONAL = {
  ifNoneMatch: undefined,
  ifModifiedSince: undefined,
  ifRange: undefined,
  range: undefined,
  directives: null,
}

/** True when the request's directives want a fresher answer (RFC 9111, 5.2.1). */
function isRefusedBy({ noCache, maxAge, minFresh }: Directives, entry: Entry, now: number): boolean {
  if (noCache) return true
  const age = ageOf(entry, now)
  if (maxAge !== null && age > maxAge * 1000 - (maxAge === 0 ? 1 : 0)) return true
  return minFresh !== null && entry.lifetime - age < minFresh * 1000
}

/** True when `max-stale` lets the request have it, and the origin does not forbid that. */
function toleratesStale({ maxStale }: Directives, entry: Entry, now: number): boolean {
  if (maxStale === null || forbidsStale(entry.said)) return false
  return stalenessOf(entry, now) <= maxStale * 1000
}

function slotsFor(maxBytes: number): number {
  return Math.min(MOST_SLOTS, Math.max(16, maxBytes / SLOT_SHARE))
}
