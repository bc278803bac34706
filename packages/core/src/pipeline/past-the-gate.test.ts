/**
 * The person who wants past the gate of a route: whatever a server behind the edge makes of a target, a request for what
 * lies under a gated route has passed its gate, or never arrives.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type App,
  type Filter,
  type Handler,
  HeaderList,
  pipeline,
  proxy,
  reply,
  upstream,
} from '../index.ts'
import { markForwarding } from './plan.ts'

/** What one server does to a path; any of them in any order makes a server. */
const LIBERTIES: Record<string, (path: string) => string> = {
  decode: path => path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  'decode all but slashes': path =>
    path.replace(/%(?!2f|5c)([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  backslash: path => path.replaceAll('\\', '/').replace(/%5c/gi, '/'),
  merge: path => path.replace(/\/{2,}/g, '/'),
  parameters: path => path.replace(/;[^/]*/g, ''),
  dots: resolveDots,
}

function resolveDots(path: string): string {
  const out: string[] = []
  const segments = path.slice(1).split('/')
  for (const [i, segment] of segments.entries()) {
    if (segment === '..') out.pop()
    else if (segment !== '.') out.push(segment)
    if ((segment === '.' || segment === '..') && i === segments.length - 1) out.push('')
  }
  return `/${out.join('/')}`
}

/**
 * A server: some of the liberties, in some order, on top of what RFC 3986 calls the same: unreserved characters decoded and
 * dot segments resolved. Decoding twice is a fault of its own, and not asked here.
 */
const server = fc
  .shuffledSubarray(Object.keys(LIBERTIES))
  .filter(steps => !(steps.includes('decode') && steps.includes('decode all but slashes')))
  .map(steps => (steps.includes('dots') ? steps : [...steps, 'dots']))

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('/', '//', '\\', '%2f', '%5C', ';', '%3b', ';a=b', '/./', '/../') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('admin', '%61dmin', 'a%64min', 'team', '@team', '%40team', 'caf%c3%a9'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('pub', 'x', 'v1', '.', '..', '%2e', '%2E%2e', '%', '%25', '%00', '%FF', '~'),
  },
)
const anyTarget = fc.array(piece, { maxLength: 10 }).map(parts => `/${parts.join('')}`)

/** Marks who has passed which gate. */
const gate = (name: string): Filter => ({
  name,
  onReply: (_, head) => void head.headers.append('X-Gate', name) as undefined,
})

const origin = markForwarding((() => reply(200, 'origin', { headers: { 'X-Origin': '1' } })) as Handler)
const another = markForwarding((() => reply(200, 'origin', { headers: { 'X-Origin': '1' } })) as Handler)

/** Gated places, by the path as its server has understood it; where two fit, the first is the more specific route. */
const PLACES: [string, RegExp][] = [
  ['admin', /^\/admin(?:\/|$)/],
  ['team', /^\/(?:@|%40)team\//],
  ['cafe', /^\/caf(?:\u00c3\u00a9|%c3%a9)\//],
  ['api', /^\/[^/]+\/admin\/./],
]
const OPEN = /^\/pub\//

const unreserved = (path: string): string =>
  path.replace(/%([0-9a-f]{2})/gi, (escaped, hex) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16))
    return /[a-z0-9._~-]/i.test(char) ? char : escaped
  })

function edge(build: (app: ReturnType<typeof pipeline>) => App): App {
  return build(pipeline())
}

const apps: [string, App, boolean][] = [
  [
    'all to one server',
    edge(app =>
      app
        .route('/admin', r => r.use(gate('admin')).handle(origin))
        .route('/admin/*', r => r.use(gate('admin')).handle(origin))
        .route('/@team/*', r => r.use(gate('team')).handle(origin))
        .route('/caf%C3%A9/*', r => r.use(gate('cafe')).handle(origin))
        .route('/:version/admin/:what', r => r.use(gate('api')).handle(origin))
        .route('/:version/admin/*', r => r.use(gate('api')).handle(origin))
        .handle(origin),
    ),
    false,
  ],
  [
    'with open routes beside, to several servers',
    edge(app =>
      app
        .route('/pub/*', r => r.handle(origin))
        .route('/admin', r => r.use(gate('admin')).handle(origin))
        .route('/admin/*', r => r.use(gate('admin')).handle(another))
        .route('GET,POST /@team/*', r => r.use(gate('team')).handle(another))
        .route('/caf%C3%A9/*rest', r => r.use(gate('cafe')).handle(origin))
        .route('/:version/admin/*rest', r => r.use(gate('api')).handle(another))
        .route('/:any', r => r.handle(origin))
        .handle(another),
    ),
    true,
  ],
]

describe.each(apps)('%s', (_, app, opened) => {
  test('no target reaches under a gated route of any server without its gate', async () => {
    let arrived = 0
    await fc.assert(
      fc.asyncProperty(anyTarget, server, async (target, steps) => {
        const answer = await app.inject({ path: target })
        if (!answer.headers.has('x-origin')) return
        arrived++
        const understood = steps.reduce((path, step) => LIBERTIES[step]!(path), unreserved(target))
        if (opened && OPEN.test(understood)) return
        const place = PLACES.find(([, under]) => under.test(understood))
        if (place)
          expect([target, steps, understood, answer.headers.all('x-gate')]).toEqual([
            target,
            steps,
            understood,
            [place[0]],
          ])
      }),
      { numRuns: 4000 },
    )
    // The property means something only where requests do arrive.
    expect(arrived).toBeGreaterThan(500)
  })
})

const refused = [
  '//admin/x',
  '/%2fadmin',
  '/\\admin',
  '/%5cadmin/x',
  '/admin;/x',
  '/;/admin',
  '/admin;a=b/x',
  '/admin%3b/x',
]
const arriving = [
  '//',
  '/x//y',
  '/;p=1',
  '/pub/a%2Fb',
  '/a\\b',
  '/@scope%2fname',
  '/x/%FF',
  '/pub//admin2',
  '/administrator;x',
]

describe('by name', () => {
  const [, app] = apps[0]!

  test.each(refused)('%s is refused', async target => {
    const { status, outcome } = await app.inject({ path: target })
    expect([status, outcome.error?.code]).toEqual([400, 'ambiguous-path'])
  })

  test.each(arriving)('%s arrives', async target => {
    expect((await app.inject({ path: target })).headers.get('x-origin')).toBe('1')
  })

  test.each([
    ['/admin/%FF', 'admin'],
    ['/admin//x', 'admin'],
    ['/admin/x;y', 'admin'],
    ['/admin/a%2Fb', 'admin'],
    ['/admin/%5C', 'admin'],
    ['/%40team/x', 'team'],
    ['/caf%C3%A9/%FF', 'cafe'],
  ])('%s passes the gate %s', async (target, name) => {
    const { status, headers } = await app.inject({ path: target })
    expect([status, headers.get('x-gate')]).toEqual([200, name])
  })

  test('a path of another method is refused too, and 405 stays 405', async () => {
    const posts = pipeline()
      .route('POST /admin', r => r.handle(origin))
      .handle(origin)
    expect((await posts.inject({ path: '//admin' })).status).toBe(400)
    expect((await posts.inject({ path: '/admin' })).status).toBe(405)
  })

  test('hosts are judged by their own routes', async () => {
    const hosts = pipeline()
      .host('a.example', h => h.route('/admin/*', r => r.use(gate('admin')).handle(origin)).handle(origin))
      .handle(origin)
    expect((await hosts.inject({ path: '//admin/x', authority: 'a.example' })).status).toBe(400)
    expect((await hosts.inject({ path: '//admin/x', authority: 'b.example' })).status).toBe(200)
  })

  test('a long path with many readings is refused, not worked out', async () => {
    const target = `/${'%2F;x//%5C%3B'.repeat(400)}`
    const { outcome } = await app.inject({ path: target })
    expect(outcome.error?.code).toBe('ambiguous-path')
  })
})

describe('a name with a slash', () => {
  const up = upstream({ name: 'registry', targets: ['http://127.0.0.1:9'] })
  const limit: Filter = {
    name: 'limit',
    onRequest: cx => reply(200, String((cx.params as { name?: string }).name)),
  }

  test.each([
    [
      'beside a fallback that proxies, with the gates of both',
      (app: ReturnType<typeof pipeline>) =>
        app.route('/:name', r => r.use(limit).handle(proxy(up))).handle(proxy(up)),
      200,
    ],
    [
      'beside a fallback with the same handler',
      (app: ReturnType<typeof pipeline>) =>
        app.route('/:name', r => r.use(limit).handle(origin)).handle(origin),
      200,
    ],
    [
      'beside a fallback that answers itself',
      (app: ReturnType<typeof pipeline>) =>
        app.route('/:name', r => r.use(limit).handle(proxy(up))).handle(() => reply(404)),
      400,
    ],
    [
      'beside no fallback',
      (app: ReturnType<typeof pipeline>) => app.route('/:name', r => r.use(limit).handle(proxy(up))).handle(),
      400,
    ],
    [
      'beside a fallback behind a wrapper',
      (app: ReturnType<typeof pipeline>) =>
        app
          .route('/:name', r => r.use(limit).handle(origin))
          .wrap(inner => inner)
          .handle(origin),
      400,
    ],
    [
      'beside a fallback with a gate of its own',
      (app: ReturnType<typeof pipeline>) =>
        app
          .route('/:name', r => r.use(limit).handle(origin))
          .use(gate('late'))
          .handle(origin),
      400,
    ],
  ] as [string, (app: ReturnType<typeof pipeline>) => App, number][])('%s', async (_, build, status) => {
    const got = await build(pipeline()).inject({ path: '/@scope%2fname' })
    expect(got.status).toBe(status)
    if (status === 200) expect(got.text()).toBe('@scope/name')
  })

  test('an app whose servers take %2F for text says so; the rest is still refused', async () => {
    const app = pipeline({ readings: ['backslash', 'empty-segments', 'parameters'] })
      .route('/admin/*', r => r.use(gate('admin')).handle(origin))
      .route('/:name', r => r.handle(origin))
      .handle()
    expect((await app.inject({ path: '/@scope%2fname' })).status).toBe(200)
    expect((await app.inject({ path: '/admin%2Fx' })).status).toBe(200)
    expect((await app.inject({ path: '//admin/x' })).status).toBe(400)
    expect((await app.inject({ path: '/admin;/x' })).status).toBe(400)
  })

  test('no readings: routes are what is written', async () => {
    const app = pipeline({ readings: [] })
      .route('/admin/*', r => r.use(gate('admin')).handle(origin))
      .handle(() => ({ status: 200, headers: HeaderList.from({ 'X-Fallback': '1' }), body: null }))
    for (const path of ['//admin/x', '/%2fadmin', '/\\admin', '/admin;/x']) {
      expect((await app.inject({ path })).headers.get('x-fallback'), path).toBe('1')
    }
  })
})
