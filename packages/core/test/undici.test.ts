/** The other client for HTTP/1.1: the journeys that matter most, so that `http1: 'undici'` stays a way out. */
import { createServer as createSecure } from 'node:https'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pipeline, proxy, type UpstreamOptions, upstream } from '../src/index.ts'
import { certificate } from './support/certificate.ts'
import { get1, raw1 } from './support/clients.ts'
import { edge, listen, origin, scripted, testUpstream } from './support/servers.ts'

function through(target: string, options: Partial<UpstreamOptions> = {}): ReturnType<typeof edge> {
  return edge(pipeline().handle(proxy(testUpstream(target, { http1: 'undici', ...options }))))
}

describe("http1: 'undici'", () => {
  it('carries requests and answers, with bodies, over few connections', async () => {
    const up = await origin()
    let connections = 0
    up.server.on('connection', () => connections++)
    const { port } = await through(up.url)
    for (let i = 0; i < 5; i++) {
      const text = `POST /${i}?q HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`
      expect(await raw1(port, text)).toMatchObject({ status: 200, body: expect.stringContaining('hello') })
    }
    expect(up.seen.map(one => one.target)).toEqual(['/0?q', '/1?q', '/2?q', '/3?q', '/4?q'])
    expect(up.seen[0]!.raw.join()).toContain('X-A,1,x-a,2')
    expect(connections).toBe(1)
  })

  it('a 304 with the length of the 200, an unasked 100 and trailers pass', async () => {
    const not = await through((await scripted('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n')).url)
    expect((await get1(not.port, '/')).status).toBe(304)
    const unasked = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    expect((await get1((await through((await scripted(unasked)).url)).port, '/')).status).toBe(200)
    const chunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nSum: 1\r\n\r\n'
    const { port } = await through((await scripted(chunks)).url)
    expect((await get1(port, '/')).body).toContain('Sum: 1')
  })

  it.each([
    ['cut', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', true],
    ['malformed', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', false],
  ])('an answer that is %s never looks whole', async (_, answer, headed) => {
    const { port } = await through((await scripted(answer, 'end')).url)
    const reply = await get1(port, '/')
    if (headed) expect(reply).toMatchObject({ reset: true })
    else expect(reply.status).toBe(502)
  })

  it('verifies certificates by the name of the target', async () => {
    const { key, cert } = certificate()
    const server = createSecure({ key, cert }, (_req, res) => res.end('secure'))
    const port = await listen(server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const good = await through(`https://localhost:${port}`, { tls: { ca: cert } })
    expect((await get1(good.port, '/')).body).toContain('secure')
    const bad = await through(`https://localhost:${port}`)
    expect((await get1(bad.port, '/')).status).toBe(502)
  })
})

it('another client is refused by name', () => {
  const make = () => upstream({ name: 'x', targets: ['http://a.test'], http1: 'curl' as 'wire' })
  expect(make).toThrow(/http1/)
})
