/** B069 and what takes targets out: checks, traffic, and the way back. */
import type { Server, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type GroupEvent, pipeline, proxy, type UpstreamOptions } from '../src/index.ts'
import { get1 } from './support/clients.ts'
import { edge, origin, testUpstream, until } from './support/servers.ts'

/** An origin with a switch. */
async function switched(name: string): Promise<{
  url: string
  server: Server
  mode: 'good' | 'bad' | 'drop' | 'slow' | 'hang'
  checks: number
  served: number
}> {
  const state = { mode: 'good' as 'good' | 'bad' | 'drop' | 'slow' | 'hang', checks: 0, served: 0 }
  const answer = (res: ServerResponse): void => {
    if (state.mode === 'good') res.end(name)
    else if (state.mode === 'bad') res.writeHead(503).end()
    else if (state.mode === 'drop') res.destroy()
    else if (state.mode === 'slow') setTimeout(() => res.end(name), 150)
  }
  const made = await origin((res, seen) => {
    if (seen.target === '/healthz') state.checks++
    else state.served++
    answer(res)
  })
  return Object.assign(state, made)
}

async function watched(targets: string[], options: Partial<UpstreamOptions>) {
  const events: GroupEvent[] = []
  const group = testUpstream(targets, { onChange: event => events.push(event), ...options })
  const { port } = await edge(pipeline().handle(proxy(group, { retry: false })))
  const states = () => group.stats().targets.map(one => one.state)
  const changes = () =>
    events.map(event =>
      event.kind === 'target'
        ? `${event.to} ${event.reason}`
        : `${event.kind} ${'on' in event ? event.on : ''}`,
    )
  return { group, port, events, states, changes }
}

const ask = async (port: number, times: number): Promise<number[]> => {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push((await get1(port, '/')).status)
  return statuses
}

describe('B069: active checks', () => {
  const check = { path: '/healthz', interval: 20, timeout: 10_000, rise: 2, fall: 2 }

  it('take a bad target out and bring it back, each told once', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, states, events, changes } = await watched([a.url, b.url], {
      health: { check, passive: false },
    })
    await until('both are up', () => states().join() === 'up,up')
    a.mode = 'bad'
    await until('one is down', () => states().join() === 'down,up')
    expect(await ask(port, 6)).toEqual(Array(6).fill(200))
    expect(a.served).toBe(0)
    a.mode = 'good'
    await until('it is back', () => states().join() === 'up,up')
    await ask(port, 4)
    expect(a.served).toBe(2)
    const ofA = events.filter(event => event.kind === 'target' && event.target === a.url)
    expect(ofA.map(event => event.kind === 'target' && [event.from, event.to, event.reason])).toEqual([
      ['unknown', 'up', 'check-passed'],
      ['up', 'down', 'check-failed'],
      ['down', 'up', 'check-passed'],
    ])
    expect(changes().filter(change => change.startsWith('panic'))).toEqual([])
  })

  it('one failure in between changes nothing', async () => {
    const a = await switched('a')
    let checks = 0
    const flaky = await origin(res => (++checks % 2 === 0 ? res.writeHead(500).end() : res.end()))
    const { changes } = await watched([a.url, flaky.url], { health: { check, passive: false } })
    await until('it was checked ten times', () => checks >= 10)
    expect(changes()).toEqual(['up check-passed', 'up check-passed'])
  })

  it.each([
    ['refuses', 'close'],
    ['drops', 'drop'],
    ['hangs', 'hang'],
    ['is too slow', 'slow'],
  ] as const)('a target that %s is down', async (_what, how) => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { states } = await watched([a.url, b.url], {
      health: { check: { ...check, timeout: 60 }, passive: false },
    })
    await until('both are up', () => states().join() === 'up,up')
    if (how === 'close') {
      a.server.closeAllConnections()
      a.server.close()
    } else a.mode = how
    await until('one is down', () => states().join() === 'down,up')
  })

  it('the last target is never taken out: panic uses all, and says so', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, group, states, changes } = await watched([a.url, b.url], {
      health: { check, passive: false },
    })
    await until('both are up', () => states().join() === 'up,up')
    a.mode = b.mode = 'bad'
    await until('both are down', () => states().join() === 'down,down')
    expect(group.stats()).toMatchObject({ panic: true, targets: [{ used: true }, { used: true }] })
    a.mode = b.mode = 'good'
    // Whether a check has noticed or not, every request is answered.
    expect(await ask(port, 6)).toEqual(Array(6).fill(200))
    await until('both are back', () => states().join() === 'up,up')
    expect(changes().filter(change => change.startsWith('panic'))).toEqual(['panic true', 'panic false'])
  })

  it('a single target that fails its checks still gets requests', async () => {
    const a = await switched('a')
    const { port, states } = await watched([a.url], { health: { check, passive: false } })
    a.mode = 'bad'
    await until('it is down', () => states().join() === 'down')
    a.mode = 'good'
    expect(await ask(port, 2)).toEqual([200, 200])
  })

  it('panic: false answers 503 instead; a share makes it sooner', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const strict = await watched([a.url, b.url], { health: { check, passive: false, panic: false } })
    const early = await watched([a.url, b.url], { health: { check, passive: false, panic: 0.5 } })
    await until('all are up', () => [...strict.states(), ...early.states()].every(state => state === 'up'))
    a.mode = 'bad'
    await until('one is down for both', () => strict.states()[0] === 'down' && early.states()[0] === 'down')
    expect([strict.group.stats().panic, early.group.stats().panic]).toEqual([false, true])
    b.mode = 'bad'
    await until('none is left', () => strict.states().join() === 'down,down')
    expect(await ask(strict.port, 2)).toEqual([503, 503])
  })

  it('two groups with the same target have states of their own', async () => {
    const a = await switched('a')
    const one = await watched([a.url], { health: { check, passive: false } })
    const two = await watched([a.url], {
      health: { check: { ...check, path: '/none', status: 404 }, passive: false },
    })
    await until('both are decided', () => one.states()[0] === 'up' && two.states()[0] === 'down')
  })

  it('initial: down waits for the first pass', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    a.mode = 'hang'
    const { port, group } = await watched([a.url, b.url], {
      health: { check: { ...check, initial: 'down' }, passive: false },
    })
    await until(
      'one is used',
      () =>
        group
          .stats()
          .targets.map(one => one.used)
          .join() === 'false,true',
    )
    expect(await ask(port, 4)).toEqual([200, 200, 200, 200])
    expect(a.served).toBe(0)
  })

  it('send Host, base path and method as they are told', async () => {
    const up = await origin()
    await watched([`${up.url}/base`], {
      health: { check: { path: '/h?x=1', method: 'HEAD', host: 'check.test', interval: 20 } },
    })
    await until('it was checked twice', () => up.seen.length >= 2)
    expect(up.seen[0]).toMatchObject({ method: 'HEAD', target: '/base/h?x=1' })
    expect(up.seen[0]!.raw.join()).toMatch(/^host,check\.test,/i)
  })

  it('end with the group', async () => {
    const a = await switched('a')
    const { group } = await watched([a.url], { health: { check } })
    await until('it was checked', () => a.checks >= 2)
    await group.close()
    const { checks } = a
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(a.checks).toBe(checks)
  })
})

describe('passive checks', () => {
  /** Out for longer than a test takes. */
  const passive = { consecutive: 3, backoff: 120_000, maxBackoff: 120_000 }
  /** Back in a moment. */
  const brief = { consecutive: 3, backoff: 50, maxBackoff: 100, successes: 2 }

  it.each(['bad', 'drop'] as const)('failures in a row (%s) open the breaker', async mode => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, states, changes } = await watched([a.url, b.url], { health: { passive } })
    a.mode = mode
    await ask(port, 6)
    expect([states(), a.served]).toEqual([['open', 'up'], 3])
    expect(await ask(port, 4)).toEqual([200, 200, 200, 200])
    expect([a.served, changes()]).toEqual([3, ['open consecutive-failures']])
  })

  it('probes close it', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, states, changes } = await watched([a.url, b.url], { health: { passive: brief } })
    a.mode = 'bad'
    await ask(port, 6)
    a.mode = 'good'
    await until('it may be tried', () => states()[0] === 'half-open')
    for (let i = 0; i < 20 && states()[0] !== 'up'; i++) await ask(port, 1)
    expect(states()).toEqual(['up', 'up'])
    const told = changes()
    expect(told.slice(0, 2)).toEqual(['open consecutive-failures', 'half-open back-off-over'])
    expect(told.at(-1)).toBe('up probes-answered')
  })

  it('a probe that fails opens it again', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, changes } = await watched([a.url, b.url], { health: { passive: brief } })
    a.mode = 'bad'
    await ask(port, 6)
    await until('it may be tried', () => changes().includes('half-open back-off-over'))
    for (let i = 0; i < 20 && !changes().includes('open probe-failed'); i++) await ask(port, 1)
    expect(changes().slice(0, 3)).toEqual([
      'open consecutive-failures',
      'half-open back-off-over',
      'open probe-failed',
    ])
  })

  it('the share of failures opens it too', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, states } = await watched([a.url, b.url], {
      health: {
        passive: {
          consecutive: false,
          errorRate: { share: 0.5, atLeast: 6, window: 120_000 },
          backoff: 120_000,
          maxBackoff: 120_000,
        },
      },
    })
    for (let i = 0; i < 6; i++) {
      a.mode = i % 2 === 0 ? 'bad' : 'good'
      await ask(port, 2)
    }
    a.mode = 'bad'
    await ask(port, 2)
    expect(states()).toEqual(['open', 'up'])
  })

  it('a gray failure: slow against its peers', async () => {
    const ups = await Promise.all(['a', 'b', 'c'].map(switched))
    const { port, states, changes } = await watched(
      ups.map(up => up.url),
      {
        health: {
          passive: { slow: { factor: 3, atLeast: 60, requests: 3 }, backoff: 120_000, maxBackoff: 120_000 },
        },
      },
    )
    ups[1]!.mode = 'slow'
    for (let i = 0; i < 40 && states()[1] === 'up'; i++) await ask(port, 3)
    expect(states()).toEqual(['up', 'open', 'up'])
    expect(changes()).toEqual(['open slow'])
  })

  it('answers of other statuses are no failures', async () => {
    const up = await origin(res => res.writeHead(500).end())
    const other = await origin(res => res.writeHead(404).end())
    const { port, states, group } = await watched([up.url, other.url], { health: { passive } })
    await ask(port, 20)
    expect(states()).toEqual(['up', 'up'])
    expect(group.stats().targets.map(one => one.failures)).toEqual([0, 0])
  })

  it('the last one stays in use', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    const { port, group } = await watched([a.url, b.url], { health: { passive } })
    a.mode = b.mode = 'bad'
    await ask(port, 8)
    expect(group.stats()).toMatchObject({ panic: true })
    a.mode = b.mode = 'good'
    expect(await ask(port, 4)).toEqual([200, 200, 200, 200])
  })

  it('are on by default for more than one target, and off for one', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    a.mode = b.mode = 'drop'
    const alone = await watched([a.url], {})
    await ask(alone.port, 10)
    expect(alone.states()).toEqual(['up'])
    const two = await watched([a.url, b.url], {})
    await ask(two.port, 10)
    expect(two.states()).toEqual(['open', 'open'])
  })

  it('a listener that throws harms nobody', async () => {
    const [a, b] = [await switched('a'), await switched('b')]
    a.mode = 'bad'
    const warnings: string[] = []
    const listener = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', listener)
    const { port, states } = await watched([a.url, b.url], {
      health: { passive },
      onChange: () => {
        throw new Error('the listener is broken')
      },
    })
    await ask(port, 6)
    expect(states()).toEqual(['open', 'up'])
    await until('it is told', () => warnings.some(text => text.includes('the listener is broken')))
    process.off('warning', listener)
  })
})
