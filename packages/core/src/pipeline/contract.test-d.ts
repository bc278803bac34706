/** Each mistake that the builder promises to catch at compile time. */
import { describe, expectTypeOf, it } from 'vitest'
import { type Filter, type Handler, type Pipeline, pipeline, reply, type Wrapper } from '../index.ts'

const hello: Handler = () => reply(200, 'hello')
const user: Filter<object, { user: string | null }> = { name: 'user', state: () => ({ user: null }) }
const needsUser: Filter<{ user: string | null }> = {
  name: 'needs-user',
  onRequest: cx => (cx.state.user === null ? reply(401) : undefined),
}
const cached: Wrapper = inner => cx => inner(cx)

describe('state', () => {
  it('grows with every use', () => {
    const built = pipeline()
      .use(user)
      .use({ name: 'quota', state: () => ({ left: 3 }) })
    expectTypeOf(built).toExtend<Pipeline<{ user: string | null } & { left: number }, object>>()
    built.handle(cx => {
      expectTypeOf(cx.state.user).toEqualTypeOf<string | null>()
      expectTypeOf(cx.state.left).toEqualTypeOf<number>()
      return reply(200)
    })
  })

  it('meets needs that an earlier filter added', () => {
    pipeline().use(user).use(needsUser).handle(hello)
  })

  it('refuses a need that nobody met', () => {
    // @ts-expect-error no filter before this one adds `user`
    pipeline().use(needsUser)
  })

  it('refuses a need that is met too late', () => {
    // @ts-expect-error `user` is added behind the filter that needs it
    pipeline().use(needsUser).use(user)
  })

  it('refuses a field that is claimed twice, and says which', () => {
    const built = pipeline().use(user)
    // @ts-expect-error state field 'user' is taken
    built.use({ name: 'other', state: () => ({ user: 'x' }) })
  })

  it('refuses a field that is not there', () => {
    const built = pipeline().use(user)
    // @ts-expect-error there is no field `usr`
    built.handle(cx => reply(200, cx.state.usr))
  })

  it('refuses a value of the wrong type', () => {
    pipeline()
      .use({
        name: 'count',
        state: () => ({ count: 0 }),
        onRequest: cx => {
          // @ts-expect-error a number
          cx.state.count = 'one'
          return undefined
        },
      })
      .handle(hello)
  })
})

describe('routes', () => {
  it('type the parameters of their pattern', () => {
    pipeline().route('GET /files/:id/*rest', r =>
      r.handle(cx => {
        expectTypeOf(cx.params).toExtend<Readonly<{ id: string } & { rest: string }>>()
        return reply(200, cx.params.id + cx.params.rest)
      }),
    )
  })

  it('keep the parameters of the route around them', () => {
    pipeline().route('/users/:id/*', r =>
      r
        .route('/users/:id/posts/:post', inner =>
          inner.handle(cx => reply(200, cx.params.id + cx.params.post)),
        )
        .handle(),
    )
  })

  it('refuse a parameter that the pattern does not name', () => {
    // @ts-expect-error there is no parameter `name`
    pipeline().route('/users/:id', r => r.handle(cx => reply(200, cx.params.name)))
  })

  it('refuse a pattern without a leading slash', () => {
    // @ts-expect-error a route pattern starts with /
    pipeline().route('users', r => r.handle(hello))
    // @ts-expect-error a route pattern starts with /, also behind a method
    pipeline().route('GET users', r => r.handle(hello))
  })

  it('refuse a builder that does not end in an app', () => {
    // @ts-expect-error handle() is missing
    pipeline().route('/users', r => r.use(user))
  })

  it('see the state of the pipeline around them', () => {
    pipeline()
      .use(user)
      .route('/me', r => r.use(needsUser).handle(cx => reply(200, cx.state.user ?? '')))
  })
})

describe('hosts, wrappers and handlers', () => {
  it('hosts see the state around them', () => {
    pipeline()
      .use(user)
      .host('a.test', h => h.use(needsUser).handle(hello))
  })

  it('refuses a host builder that does not end in an app', () => {
    // @ts-expect-error handle() is missing
    pipeline().host('a.test', h => h.use(user))
  })

  it('takes a wrapper of any pipeline', () => {
    pipeline().use(user).wrap(cached).handle(hello)
  })

  it('refuses a wrapper whose needs are not met', () => {
    const wrapper: Wrapper<{ user: string }> = inner => cx => inner(cx)
    // @ts-expect-error no filter adds `user`
    pipeline().wrap(wrapper)
  })

  it('refuses a filter where a handler belongs', () => {
    // @ts-expect-error a filter does not answer
    pipeline().handle(user)
  })

  it('refuses a handler that gives no reply', () => {
    // @ts-expect-error undefined is no reply
    pipeline().handle(() => undefined)
  })

  it('refuses a status of the wrong type', () => {
    // @ts-expect-error a number
    pipeline().handle(() => ({ status: '200', headers: reply(200).headers, body: null }))
  })

  it('has no routes behind its end', () => {
    // @ts-expect-error an app is frozen
    pipeline().handle(hello).use(user)
  })
})
