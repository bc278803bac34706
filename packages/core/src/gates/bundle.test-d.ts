import { expectTypeOf, test } from 'vitest'
import type { Filter } from '../pipeline/contract.ts'
import { pipeline } from '../pipeline/pipeline.ts'
import { reply } from '../reply.ts'
import { baseline } from './baseline.ts'
import { bundle } from './bundle.ts'
import type { RequestIdState } from './request-id.ts'
import type { TraceState } from './trace-context.ts'

declare const plain: Filter
declare const addsUser: Filter<object, { user: string }>
declare const addsPlan: Filter<object, { plan: number }>
declare const needsUser: Filter<{ user: string }, { rights: string[] }>
declare const needsNumber: Filter<{ user: number }>
declare const needsId: Filter<object, object, { id: string }>

test('state types add up', () => {
  pipeline()
    .use(bundle('all', plain, addsUser, bundle('inner', addsPlan), plain))
    .handle(cx => {
      expectTypeOf(cx.state.user).toEqualTypeOf<string>()
      expectTypeOf(cx.state.plan).toEqualTypeOf<number>()
      return reply(200)
    })
})

test('an empty bundle and a long one are fine', () => {
  pipeline()
    .use(bundle('none'))
    .use(bundle('many', plain, plain, plain, plain, plain, plain, plain, plain))
    .handle()
})

test('a need is met by an earlier part, or from outside', () => {
  pipeline()
    .use(bundle('both', addsUser, needsUser))
    .handle(cx => {
      expectTypeOf(cx.state.rights).toEqualTypeOf<string[]>()
      return reply(200)
    })
  pipeline()
    .use(addsUser)
    .use(bundle('outside', plain, needsUser))
    .handle()
})

test('an unmet need does not compile', () => {
  // @ts-expect-error nobody adds the user
  pipeline().use(bundle('unmet', needsUser))
  // @ts-expect-error state field 'user' is needed before it is added
  bundle('late', needsUser, addsUser)
  // @ts-expect-error the user is of another type
  pipeline().use(bundle('other', addsUser, needsNumber))
  // @ts-expect-error the route has no such parameter
  pipeline().use(bundle('params', needsId))
  pipeline().route('/:id', r => r.use(bundle('params', needsId)).handle())
})

test('a field claimed twice does not compile', () => {
  // @ts-expect-error state field 'user' is taken
  bundle('twice', addsUser, plain, addsUser)
  // @ts-expect-error state field 'user' is taken
  bundle('nested', addsUser, bundle('inner', addsUser))
  // @ts-expect-error state field 'user' is taken
  pipeline().use(addsUser).use(bundle('again', addsUser))
})

test('the baseline adds what its parts add', () => {
  expectTypeOf(baseline()).toExtend<Filter<object, RequestIdState & TraceState>>()
  pipeline()
    .use(baseline({ hosts: ['a.example'], uriLength: { max: 100 } }))
    .handle(cx => {
      expectTypeOf(cx.state.requestId).toEqualTypeOf<string>()
      return reply(200, cx.state.trace?.traceId ?? '')
    })
  pipeline()
    .use(baseline({ requestId: false, traceContext: { generate: false } }))
    // @ts-expect-error no request id without its part
    .handle(cx => reply(200, cx.state.requestId))
  pipeline()
    .use(baseline({ traceContext: false }))
    // @ts-expect-error no trace without its part
    .handle(cx => reply(200, cx.state.trace?.traceId))
})
