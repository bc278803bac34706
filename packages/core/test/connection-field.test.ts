/** What a handler says of the connection: only that it may end. */
import { describe, expect, it } from 'vitest'
import { pipeline, reply } from '../src/index.ts'
import { exchangeBytes } from './support/clients.ts'
import { edge } from './support/servers.ts'

const ask = (lines = ''): string => `GET / HTTP/1.1\r\nHost: a.test\r\n${lines}\r\n`
const serve = (headers: Record<string, string>, status = 200) =>
  edge(pipeline().handle(() => reply(status, 'ok', { headers })))

describe('fields of a connection in the reply of a handler', () => {
  it.each(['keep-alive', 'upgrade', 'x-foo'])('Connection: %s does not keep one open', async value => {
    const { port } = await serve({ Connection: value })
    const got = await exchangeBytes(port, ask('Connection: close\r\n'), 3000)
    expect(got.closed).toBe(true)
    expect(got.text.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
  })

  it('are not sent', async () => {
    const headers = { Connection: 'upgrade', Upgrade: 'x', 'Keep-Alive': 'timeout=1000', TE: 'trailers' }
    const { port } = await serve({
      ...headers,
      'Proxy-Connection': 'x',
      'Transfer-Encoding': 'x',
      'X-A': 'b',
    })
    const got = await exchangeBytes(port, ask() + ask('Connection: close\r\n'), 3000)
    expect(got.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    expect(got.text).not.toMatch(
      /^(?:upgrade|te|proxy-connection):|timeout=1000|transfer-encoding: x|: upgrade/im,
    )
    expect(got.text.match(/^X-A: b/gm)).toHaveLength(2)
    expect(got.text).toMatch(/\r\n\r\nok$/)
  })

  it('Connection: close ends it', async () => {
    const { port } = await serve({ Connection: 'foo, Close' })
    const got = await exchangeBytes(port, ask() + ask(), 3000)
    expect([got.closed, got.text.match(/HTTP\/1\.1 200/g)?.length]).toEqual([true, 1])
    expect(got.text).toMatch(/\r\nConnection: close\r\n/)
  })

  it('426 keeps its Upgrade', async () => {
    const { port } = await serve({ Upgrade: 'websocket' }, 426)
    const got = await exchangeBytes(port, ask('Connection: close\r\n'), 3000)
    expect(got.closed).toBe(true)
    expect(got.text).toMatch(/\r\nUpgrade: websocket\r\n/)
    expect(got.text).toMatch(/\r\nConnection: close, Upgrade\r\n/)
  })
})
