import { describe, expect, test } from 'vitest'
import { type App, ConfigError, type Filter, pipeline, reply } from '../index.ts'

const says = (text: string) => () => reply(200, text)
const tags = (tag: string): Filter => ({
  name: tag,
  onReply: (_, head) => void head.headers.append('X-Tag', tag) as undefined,
})

async function ask(app: App, ask: string): Promise<string> {
  const [method, path, authority = 'localhost'] = ask.split(' ')
  const got = await app.inject({ method: method!, path: path!, authority })
  const tagged = got.headers.all('x-tag').join()
  return `${got.status} ${got.text().trim()}${tagged && ` [${tagged}]`}`
}

describe('routes', () => {
  const app = pipeline()
    .use(tags('root'))
    .route('GET /a/:id', r => r.handle(cx => reply(200, `a ${cx.params.id} ${cx.route}`)))
    .use(tags('late'))
    .route('/b/*rest', r =>
      r
        .use(tags('b'))
        .route('POST /b/in', inner => inner.use(tags('in')).handle(says('inner')))
        .handle(cx => reply(200, `b ${cx.params.rest}`)),
    )
    .route('/empty', r => r.handle())
    .handle(cx => reply(200, `fallback ${cx.route}`))

  test.each([
    ['GET /a/7', '200 a 7 GET /a/:id [root]'],
    ['HEAD /a/7', '200  [root]'],
    ['POST /a/7', '405 405 method not allowed [late,root]'],
    ['GET /b/x/y', '200 b x/y [b,late,root]'],
    ['POST /b/in', '200 inner [in,b,late,root]'],
    ['GET /b/in', '200 b in [b,late,root]'],
    ['GET /b/../a/1', '200 a 1 GET /a/:id [root]'],
    ['GET /%61/1', '200 a 1 GET /a/:id [root]'],
    ['GET /empty', '404 404 not found [late,root]'],
    ['GET /other', '200 fallback * [late,root]'],
    ['OPTIONS *', '204  [late,root]'],
  ])('%s is %s', async (asked, answer) => {
    expect(await ask(app, asked)).toBe(answer.trim())
  })

  test('405 has Allow', async () => {
    const { headers, outcome } = await app.inject({ path: '/a/7', method: 'DELETE' })
    expect([headers.get('allow'), outcome.reason]).toEqual(['GET, HEAD', 'method-not-allowed'])
  })

  test('without a handler the rest is 404', async () => {
    expect(await ask(pipeline().handle(), 'GET /')).toBe('404 404 not found')
  })
})

describe('an encoded slash', () => {
  const app = pipeline()
    .route('/admin/*', r => r.handle(says('admin')))
    .route('/files/:name', r => r.handle(says('file')))
    .handle(says('fallback'))

  test.each([
    ['/admin%2Fusers', 400],
    ['/admin%5Cusers', 400],
    ['/files%2Fx', 400],
    ['/files/a%2Fb', 400],
    ['/admin/a%2Fb', 200],
    ['/other%2Fx', 200],
    ['/files/a%252Fb', 200],
  ])('in %s: %i', async (path, status) => {
    const { status: got, outcome } = await app.inject({ path })
    expect(got).toBe(status)
    expect(outcome.error?.code).toBe(status === 400 ? 'ambiguous-path' : undefined)
  })
})

describe('hosts', () => {
  const app = pipeline()
    .use(tags('root'))
    .host('a.example', h => h.route('/x', r => r.handle(says('a x'))).handle(says('a')))
    .use(tags('late'))
    .host('*.example', h => h.use(tags('wild')).handle(cx => reply(200, `wild ${cx.route}`)))
    .route('/x', r => r.handle(says('x')))
    .handle(says('any'))

  test.each([
    ['GET / a.example', '200 a [root]'],
    ['GET / A.example:8080', '200 a [root]'],
    ['GET /x a.example', '200 a x [root]'],
    ['GET / b.example', '200 wild *.example [wild,late,root]'],
    ['GET /x b.example', '200 wild *.example [wild,late,root]'],
    ['GET / example', '200 any [late,root]'],
    ['GET /x other.test', '200 x [late,root]'],
  ])('%s is %s', async (asked, answer) => {
    expect(await ask(app, asked)).toBe(answer)
  })
})

describe('the builder', () => {
  test('leaves the old pipeline as it was', async () => {
    const base = pipeline().use(tags('a'))
    const longer = base.use(tags('b')).handle(says('x'))
    expect(await ask(base.handle(says('x')), 'GET /')).toBe('200 x [a]')
    expect(await ask(longer, 'GET /')).toBe('200 x [b,a]')
  })

  test('tells all faults at once, with their places', () => {
    const build = () =>
      pipeline()
        .use({ name: '' })
        .use({ name: 'one', state: () => ({ same: 1 }) })
        .use({ name: 'two', state: () => ({ same: 2 }) } as never)
        .route('/a b' as string as '/a', r => r.handle())
        .route('/x/*', r => r.route('/y', inner => inner.handle()).handle())
        .route('GET /twice', r => r.handle())
        .route('GET /twice', r => r.handle('nothing' as never))
        .host('UPPER.example', h => h.handle())
        .host('ok.example', h => h.handle())
        .host('ok.example', h => h.handle())
        .host('outer.example', h => h.host('in.example', i => i.handle()).handle())
        .handle()
    let thrown: unknown
    try {
      build()
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    const { faults, message } = thrown as ConfigError
    const told = [...new Set(faults.map(fault => `${fault.place}: ${fault.problem}`))]
    const clash = 'filters one and two both add the state field same'
    expect(told.sort()).toEqual(
      [
        'use(): a filter has no name',
        "route /a b: '/a' is not an upper-case method",
        'route /y: it lies outside the route around it, /x/*',
        'route GET /twice: GET /twice is already routed',
        'GET /twice: the handler is not a function',
        'host UPPER.example: it is not a host name',
        'host ok.example: it is defined twice',
        'host in.example: it stands inside a route or host',
        ...['*', '/y', '/x/*', 'GET /twice', 'ok.example', 'outer.example'].map(
          place => `${place}: ${clash}`,
        ),
      ].sort(),
    )
    for (const fault of faults) expect(message).toContain(fault.fix)
  })

  test.each([
    [
      (app: ReturnType<typeof pipeline>) => app.route('/x', r => r.handle()).route('/x', r => r.handle()),
      '/x',
    ],
    [
      (app: ReturnType<typeof pipeline>) =>
        app
          .route('/a/*', r => r.route('/a/x', i => i.handle()).handle())
          .route('/a/b/*', r => r.handle())
          .use(tags('t'))
          .route('GET /a/*', r => r.route('/a/x', i => i.handle()).handle()),
      '/a/x',
    ],
    [
      (app: ReturnType<typeof pipeline>) =>
        app.route('/u/:id', r => r.handle()).route('/u/:name', r => r.handle()),
      '/u/:name',
    ],
  ])('a route that is there twice is a fault, also in sibling pipelines', (build, place) => {
    expect(() => build(pipeline()).handle()).toThrow(`route ${place}: ${place} is already routed`)
  })

  test('a pattern that could never match shows the right spelling', () => {
    const build = () =>
      pipeline()
        .route('/caf\u00e9/%7Ex', r => r.handle())
        .handle()
    expect(build).toThrow(
      "route /caf\u00e9/%7Ex: 'caf\u00e9' is not how it stands in a canonical path: write 'caf%C3%A9'",
    )
  })

  test('a wrapper that gives no handler is a fault', () => {
    expect(() =>
      pipeline()
        .wrap((() => undefined) as never)
        .handle(),
    ).toThrow('a wrapper gives undefined')
  })

  test('refuses a part that is another app, and an app that is only a part', async () => {
    const other = pipeline().handle()
    expect(() => pipeline().route('/a', () => other)).toThrow(/does not return the app/)
    let part: App | undefined
    pipeline().route('/a', r => (part = r.handle()))
    expect(() => part!.inject()).toThrow(/only inside its pipeline/)
  })

  test.each([
    [{}, '10.0.0.1', false],
    [{ trust: [] }, '10.0.0.1', false],
    [{ trust: ['private'] }, '10.0.0.1', true],
    [{ trust: ['private'] }, 'unix', false],
    [{ trust: ['unix'] }, 'unix', true],
    [{ trust: ['unix', '8.8.8.8'] }, '8.8.8.8', true],
    [{ trust: (address: string) => address === 'x' }, 'x', true],
  ])('%j trusts %s: %s', (options, address, trusted) => {
    expect(pipeline(options).handle().trusts(address)).toBe(trusted)
  })

  test('an entry of trust that is no address is refused', () => {
    expect(() => pipeline({ trust: ['everybody'] })).toThrow(ConfigError)
  })
})
