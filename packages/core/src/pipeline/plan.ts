/** What a route does, flattened at build: one array per hook, so that a request is a loop. */
import { isThenable } from './answer.ts'
import type {
  AttemptWatch,
  BodyReplacement,
  BodyTransform,
  Context,
  Filter,
  ForwardHead,
  Handler,
  Outcome,
  ReplyHead,
  SentAttempt,
  Verdict,
} from './contract.ts'

// The builder has checked the filters' types; here they are only called.
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type AnyContext = Context<any, any>
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type AnyFilter = Filter<any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type AnyHandler = Handler<any, any>

/** A hook, with the place of its filter in the pipeline. */
export interface Hook<F> {
  readonly at: number
  readonly run: F
}

/** Handlers that only pass requests on to a server: where one stands, nothing but filters and wrappers decides. */
const forwarding = new WeakSet<AnyHandler>()

/** Marks a handler as one that only forwards. */
export function markForwarding<H extends AnyHandler>(handler: H): H {
  forwarding.add(handler)
  return handler
}

/** Everything that a matched route needs. */
export interface Plan {
  readonly route: string
  /** What stands in front of the handler: filters and wrappers. */
  readonly gates: ReadonlySet<object>
  /** The handler without its wrappers. */
  readonly answers: AnyHandler
  readonly filters: readonly AnyFilter[]
  readonly handler: AnyHandler
  readonly state: () => object
  /** The state of those filters that can make theirs; never throws. For an exchange that ends before it began. */
  readonly someState: () => object
  readonly onRequest: readonly Hook<(cx: AnyContext) => Verdict>[]
  readonly holdBody: readonly Hook<(cx: AnyContext) => number>[]
  readonly onRequestBody: readonly Hook<(cx: AnyContext, bytes: Uint8Array, end: boolean) => Verdict>[]
  readonly onForward: readonly Hook<(cx: AnyContext, out: ForwardHead) => void | Promise<void>>[]
  readonly onAttempt: readonly Hook<(cx: AnyContext, sent: SentAttempt) => AttemptWatch | undefined>[]
  /** Last filter first. */
  readonly onReply: readonly Hook<(cx: AnyContext, head: ReplyHead) => Verdict>[]
  /** Last filter first. */
  readonly replyBody: readonly Hook<
    (cx: AnyContext, head: ReplyHead) => BodyTransform | BodyReplacement | undefined
  >[]
  readonly onDone: readonly Hook<(cx: AnyContext, outcome: Outcome) => void>[]
}

const EMPTY: object = Object.freeze({})

/** True when a request that ran through `ran` has passed all that would have decided about it in `meant`. */
export function covers(ran: Plan, meant: Plan): boolean {
  if (ran === meant) return true
  if (ran.answers !== meant.answers && !forwarding.has(meant.answers)) return false
  for (const gate of meant.gates) if (!ran.gates.has(gate)) return false
  return true
}

type AnyWrapper = (inner: AnyHandler) => AnyHandler

/** Flattens filters and a handler into a plan; `answers` is the handler without the `wrappers`, which are applied already. */
export function makePlan(
  route: string,
  filters: readonly AnyFilter[],
  handler: AnyHandler,
  answers: AnyHandler = handler,
  wrappers: readonly AnyWrapper[] = [],
): Plan {
  const makers = filters.flatMap(filter => (filter.state ? [filter.state] : []))
  return {
    route,
    gates: new Set<object>([...filters, ...wrappers]),
    answers,
    filters,
    handler,
    state: stateMaker(makers),
    someState: () => someState(makers),
    onRequest: hooks(filters, 'onRequest'),
    holdBody: hooks(filters, 'holdBody'),
    onRequestBody: hooks(filters, 'onRequestBody'),
    onForward: hooks(filters, 'onForward'),
    onAttempt: hooks(filters, 'onAttempt'),
    onReply: hooks(filters, 'onReply').reverse(),
    replyBody: hooks(filters, 'replyBody').reverse(),
    onDone: hooks(filters, 'onDone'),
  }
}

/** Replaces bundles by their parts. */
export function flatten(filters: readonly AnyFilter[]): AnyFilter[] {
  return filters.flatMap(filter => (filter.parts ? flatten(filter.parts) : [filter]))
}

function stateMaker(makers: readonly (() => object)[]): () => object {
  const [first, ...rest] = makers
  if (first === undefined) return () => EMPTY
  if (rest.length === 0) return () => objectOf(first())
  const keys = makers.map(stateKeys)
  // A copy of this has all fields at once, in one shape: to add them one after the other would cost more than to make them.
  const empty: Record<PropertyKey, unknown> = {}
  for (const name of keys.flat()) empty[name] = undefined
  return () => {
    const state = { ...empty }
    for (let i = 0; i < makers.length; i++) {
      const part = objectOf(makers[i]!()) as Record<PropertyKey, unknown>
      const names = keys[i]!
      for (let j = 0; j < names.length; j++) state[names[j]!] = part[names[j]!]
    }
    return state
  }
}

/** Names and symbols of the fields that a filter adds; none when it cannot say, which the compiler reports. */
export function stateKeys(maker: () => object): readonly PropertyKey[] {
  try {
    return Reflect.ownKeys(objectOf(maker()))
  } catch {
    return []
  }
}

function objectOf(state: unknown): object {
  if (isThenable(state)) {
    // Nobody waits for it: its rejection must not end the process.
    Promise.resolve(state).catch(() => {})
    throw new TypeError('the state() of a filter gave a promise')
  }
  if (typeof state === 'object' && state !== null) return state
  throw new TypeError('the state() of a filter gave no object')
}

function someState(makers: readonly (() => object)[]): object {
  const state = {}
  for (const maker of makers) {
    try {
      Object.assign(state, objectOf(maker()))
    } catch {
      // The exchange answers 500 for it already; the other filters still need theirs in onDone.
    }
  }
  return state
}

type HookName =
  | 'onRequest'
  | 'holdBody'
  | 'onRequestBody'
  | 'onForward'
  | 'onAttempt'
  | 'onReply'
  | 'replyBody'
  | 'onDone'

function hooks<K extends HookName>(
  filters: readonly AnyFilter[],
  name: K,
): Hook<NonNullable<AnyFilter[K]>>[] {
  const found: Hook<NonNullable<AnyFilter[K]>>[] = []
  for (const [at, filter] of filters.entries()) {
    const run = filter[name]
    // Called as a method, so that a filter made from a class keeps its `this`.
    if (run)
      found.push({
        at,
        run: (run as (...args: never[]) => unknown).bind(filter) as NonNullable<AnyFilter[K]>,
      })
  }
  return found
}
