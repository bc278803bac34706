/** What stands outside of options: servers, apps, filters, wrappers, patterns. */
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import * as core from '../index.ts'
import { ConfigError, type ConfigFault } from '../index.ts'

const app = core.pipeline().handle()
const NUMBER = [null, '5', Number.NaN, -1, {}, [], true, 3n, Symbol('x')]

function faultsOf(make: () => unknown): readonly ConfigFault[] {
  try {
    make()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const { place, problem, fix } of error.faults) {
      // Each tells something, and nothing that objects turn into by themselves.
      expect(`${place} ${problem} ${fix}`).not.toMatch(/\[object|undefined\b.*undefined/)
      expect([place, problem, fix]).not.toContain('')
    }
    return error.faults
  }
  return []
}

describe('what stands outside of options', () => {
  const anything = [undefined, null, 5, 'x', {}, [], () => {}] as never[]

  test.each(anything)('attach(%s, app) and attach(server, %s)', value => {
    expect(faultsOf(() => core.attach(value, app)).map(fault => fault.place)).toContain('attach(server)')
    expect(faultsOf(() => core.attach(createServer(), value)).map(fault => fault.place)).toEqual([
      'attach(app)',
    ])
  })

  test.each(anything)('toHandler(%s), proxy(%s)', value => {
    expect(faultsOf(() => core.toHandler(value)).map(fault => fault.place)).toEqual(['toHandler(app)'])
    expect(faultsOf(() => core.proxy(value)).map(fault => fault.place)).toEqual(['proxy(upstream)'])
  })

  test.each([
    undefined,
    null,
    5,
    'x',
    {},
    [],
    () => {},
    { name: '' },
    { name: '__proto__' },
    { name: 'a\n' },
  ] as never[])('use(%s), in the app, in a route and in a host', value => {
    const use = (pipe: ReturnType<typeof core.pipeline>): core.App => pipe.use(value).handle()
    for (const build of [
      () => use(core.pipeline()),
      () => core.pipeline().route('/x', use).handle(),
      () => core.pipeline().host('a.example', use).handle(),
    ]) {
      const [fault] = faultsOf(build)
      expect(fault?.place).toMatch(/^use\(\)/)
    }
  })

  test.each([
    ['onRequest', 5],
    ['onReply', null],
    ['onDone', 'x'],
    ['state', {}],
    ['parts', {}],
    ['holdBody', 4096],
    ['onResponse', () => {}],
    ['onrequest', () => {}],
  ])('a filter whose %s is %s', (hook, value) => {
    const [fault] = faultsOf(() =>
      core
        .pipeline()
        .use({ name: 'bad', [hook]: value } as never)
        .handle(),
    )
    expect(fault).toMatchObject({ place: 'filter bad', problem: expect.stringContaining(hook) })
  })

  test('a filter whose state has a field __proto__', () => {
    const state = () => ({ ['__proto__']: 1 })
    const [fault] = faultsOf(() =>
      core
        .pipeline()
        .use({ name: 'bad', state } as never)
        .handle(),
    )
    expect(fault).toMatchObject({ place: 'filter bad', problem: 'a state field is called __proto__' })
  })

  test.each([undefined, null, 5, 'x', {}] as never[])('wrap(%s), and a wrapper that gives it', value => {
    expect(faultsOf(() => core.pipeline().wrap(value).handle())).toMatchObject([{ place: 'wrap()' }])
    const [fault] = faultsOf(() =>
      core
        .pipeline()
        .wrap(() => value)
        .handle(),
    )
    expect(fault).toMatchObject({ place: '*', problem: expect.stringMatching(/^a wrapper gives/) })
  })

  test.each([undefined, null, 5, {}, []] as never[])(
    'route(%s), host(%s), and both without a function',
    value => {
      const build = (r: ReturnType<typeof core.pipeline>) => r.handle()
      expect(
        faultsOf(() =>
          core
            .pipeline()
            .route(value, build as never)
            .handle(),
        ).length,
      ).toBe(1)
      expect(faultsOf(() => core.pipeline().host(value, build).handle()).length).toBe(1)
      expect(faultsOf(() => core.pipeline().route('/x', value).handle())).toMatchObject([
        { place: 'route /x' },
      ])
      expect(faultsOf(() => core.pipeline().host('a.example', value).handle())).toMatchObject([
        { place: 'host a.example' },
      ])
      expect(
        faultsOf(() =>
          core
            .pipeline()
            .route('/x', () => value)
            .handle(),
        ),
      ).toMatchObject([{ place: 'route /x' }])
    },
  )

  test.each([5, 'x', {}, []] as never[])('handle(%s)', value => {
    expect(faultsOf(() => core.pipeline().handle(value))).toMatchObject([{ place: '*' }])
  })

  test.each([undefined, null, 5, '', '__proto__'] as never[])('bundle(%s), and a part of a bundle', value => {
    expect(faultsOf(() => core.bundle(value))).toMatchObject([{ place: 'bundle(name)' }])
    expect(faultsOf(() => core.bundle('a', value))).toMatchObject([{ place: 'bundle "a"' }])
  })

  test.each(NUMBER as never[])('memoryRateStore(%s)', value => {
    expect(faultsOf(() => core.memoryRateStore(value))).toMatchObject([{ place: 'memoryRateStore' }])
  })

  test.each([
    ['pth', '/x'],
    ['path', null],
    ['method', 5],
    ['scheme', 'ftp'],
    ['authority', {}],
    ['headers', 'a: b'],
    ['body', {}],
    ['body', ['text']],
    ['address', null],
    ['version', '3'],
  ])('inject({ %s: %j }) rejects', async (name, value) => {
    const rejected = app.inject({ [name]: value } as never)
    await expect(rejected).rejects.toMatchObject({
      name: 'ConfigError',
      faults: [{ place: `inject.${name}` }],
    })
  })

  test('several faults are told at once', () => {
    const faults = faultsOf(() => core.rateLimit({ perSecnd: 5, burst: 'x', headers: 1 } as never))
    expect(faults.map(fault => fault.place)).toEqual([
      'rateLimit.perSecnd',
      'rateLimit.perSecond',
      'rateLimit.burst',
      'rateLimit.headers',
    ])
    expect(faults[0]!.fix).toBe('Did you mean perSecond?')
  })

  test('nothing of a password in a target is told', () => {
    expect(() => core.upstream({ name: 'a', targets: 'http://user:secret@a' as never })).toThrow(
      /^(?!.*secret)/s,
    )
  })
})

describe('trust as a function', () => {
  test.each([
    ['throws', () => core.attach(createServer(), undefined as never)],
    ['gives a promise', async () => true],
    ['gives a string', () => 'yes'],
  ])('that %s trusts nobody', (_, trust) => {
    expect(
      core
        .pipeline({ trust: trust as never })
        .handle()
        .trusts('10.0.0.1'),
    ).toBe(false)
  })
})
