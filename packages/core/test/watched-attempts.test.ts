/** `onAttempt`: each attempt is told once when it is sent, and once when it is over, however it ends. */
import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Filter, type ProxyOptions, pipeline, proxy, type UpstreamOptions } from '../src/index.ts'
import { get1 } from './support/clients.ts'
import { ask } from './support/coded.ts'
import { edge, field, origin, scripted, testUpstream, until } from './support/servers.ts'
import { openWebSocket, socketOrigin } from './support/websocket.ts'

function watcher(log: string[], name = 'watch'): Filter {
  return {
    name,
    onAttempt(_, sent) {
      const { attempt, upstream, method, path } = sent
      log.push(`${attempt} ${upstream} ${method} ${path}`)
      sent.headers.set(`X-${name}`, String(attempt))
      return {
        onHead: status => void log.push(`${attempt} head ${status}`),
        onEnd: error => void log.push(`${attempt} end ${error === null ? 'well' : error.code}`),
      }
    },
  }
}

async function watched(
  target: string | string[],
  options: { upstream?: Partial<UpstreamOptions>; proxy?: ProxyOptions; filters?: Filter[] } = {},
): Promise<{ port: number; log: string[] }> {
  const log: string[] = []
  const filters = options.filters ?? [watcher(log)]
  const app = filters
    .reduce((line, filter) => line.use(filter), pipeline())
    .handle(proxy(testUpstream(target, options.upstream), options.proxy))
  return { port: (await edge(app)).port, log }
}

describe('an attempt that', () => {
  it('is answered', async () => {
    const up = await origin()
    const { port, log } = await watched(`${up.url}/base`)
    await get1(port, '/x?y')
    await until('it is over', () => log.length === 3)
    expect(log).toEqual(['1 test GET /base/x?y', '1 head 200', '1 end well'])
    expect(field(up.seen[0]!.raw, 'x-watch')).toBe('1')
  })

  it('fails, and the next one', async () => {
    const { port, log } = await watched(['http://127.0.0.1:9', (await origin()).url])
    await get1(port, '/')
    await until('it is over', () => log.length === 5)
    expect(log).toEqual(['1 test GET /', '1 end connect-refused', '2 test GET /', '2 head 200', '2 end well'])
  })

  it('is declined for its status', async () => {
    const bad = await origin(res => res.writeHead(503).end('a body that nobody wants'))
    const { port, log } = await watched([bad.url, (await origin()).url], {
      proxy: { retry: { statuses: [503] } },
    })
    await get1(port, '/')
    await until('it is over', () => log.length === 6)
    expect(log.slice(0, 3)).toEqual(['1 test GET /', '1 head 503', '1 end well'])
    expect(log.slice(3)).toEqual(['2 test GET /', '2 head 200', '2 end well'])
  })

  it('breaks off, runs out of time, answers with what is no reply', async () => {
    const broken = await scripted('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', 'reset')
    const one = await watched(broken.url)
    await ask(one.port, '/').catch(() => {})
    await until('it is over', () => one.log.length === 3)
    expect(one.log.slice(1)).toEqual(['1 head 200', '1 end upstream-reset'])
    const slow = await watched((await origin(() => {})).url, { upstream: { timeouts: { total: 100 } } })
    await get1(slow.port, '/')
    await until('it is over', () => slow.log.length === 2)
    expect(slow.log[1]).toBe('1 end total-timeout')
    const odd = await watched((await scripted('HTTP/1.1 700 Odd\r\n\r\n', 'end')).url, {
      proxy: { retry: false },
    })
    await get1(odd.port, '/')
    await until('it is over', () => odd.log.length === 2)
    expect(odd.log[1]).toBe('1 end bad-reply')
  })

  it('loses its client before the head, and in the body', async () => {
    const held: ServerResponse[] = []
    const { port, log } = await watched((await origin(res => void held.push(res))).url)
    for (const begun of [false, true]) {
      log.length = 0
      const before = held.length
      const req = request({ port, host: '127.0.0.1', agent: false }).end()
      req.on('error', () => {})
      await until('the origin is asked', () => held.length > before)
      if (begun) {
        held.at(-1)!.write('a part')
        const [res] = await once(req, 'response')
        res.on('error', () => {})
        await once(res, 'data')
      }
      req.destroy()
      await until('it is over', () => log.at(-1)!.includes('end'))
      expect(log.slice(1)).toEqual(begun ? ['1 head 200', '1 end client-closed'] : ['1 end client-closed'])
    }
  })

  it('becomes a tunnel ends with it', async () => {
    const { port, log } = await watched((await socketOrigin()).url)
    const socket = openWebSocket(`ws://127.0.0.1:${port}/hello`)
    await once(socket, 'message')
    expect(log).toEqual(['1 test GET /hello', '1 head 101'])
    socket.close()
    await until('it is over', () => log.length === 3)
    expect(log[2]).toBe('1 end well')
  })
})

it('several filters watch, and one that throws harms nobody', async () => {
  const warnings: string[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', onWarning)
  try {
    const log: string[] = []
    const boom = (): never => {
      throw new Error('a bug')
    }
    const { port } = await watched((await origin()).url, {
      filters: [
        watcher(log, 'first'),
        { name: 'throws', onAttempt: boom },
        { name: 'throws-later', onAttempt: () => ({ onHead: boom, onEnd: boom }) },
        { name: 'silent', onAttempt: () => undefined },
        watcher(log, 'last'),
      ],
    })
    expect((await get1(port, '/')).status).toBe(200)
    await until('it is over', () => log.length === 6)
    expect(log.filter(line => line === '1 end well')).toHaveLength(2)
    await until('it is told', () => warnings.filter(text => text.includes('onAttempt')).length >= 2)
  } finally {
    process.off('warning', onWarning)
  }
})
