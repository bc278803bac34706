/** Many requests over sessions that end again and again: nothing is mixed up, nothing is lost without a reason. */
import { expect, it } from 'vitest'
import { type Outcome, pipeline, proxy } from '../src/index.ts'
import { request2, session2 } from './support/clients.ts'
import { bodyOf, origin2 } from './support/http2-origin.ts'
import { edge, testUpstream, until } from './support/servers.ts'

const REQUESTS = 3000
const AT_ONCE = 40

it('GOAWAY every 150 ms and refused streams', { timeout: 60_000 }, async () => {
  let count = 0
  const up = await origin2(async (stream, headers) => {
    if (++count % 100 === 0) return stream.close(7)
    const body = headers[':method'] === 'POST' ? await bodyOf(stream).catch(() => null) : ''
    if (stream.destroyed) return
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-path': headers[':path'] }))
    stream.end(`${headers[':path']} ${body}`.repeat(1 + (count % 50)))
  })
  const goodbye = setInterval(() => {
    for (const session of up.sessions) {
      if (session.destroyed || session.closed) continue
      session.goaway(0, 2 ** 31 - 1)
      setTimeout(() => session.destroyed || session.close(), 100)
    }
  }, 150)
  const outcomes: Outcome[] = []
  const group = testUpstream(up.url, { protocol: 'h2c', http2: { streams: 20 } })
  const app = pipeline()
    .use({ name: 'see', onDone: (_cx, outcome) => void outcomes.push(outcome) })
    .handle(proxy(group))
  const { url } = await edge(app, 'h2c')
  const client = session2(url)
  let next = 0
  let wrong = 0
  const worker = async (): Promise<void> => {
    while (next < REQUESTS) {
      const id = next++
      const post = id % 3 === 0
      const reply = await request2(
        client,
        { ':path': `/${id}`, ':method': post ? 'POST' : 'GET' },
        post ? `body ${id}` : undefined,
      )
      if (reply.status === 200 && reply.code === 0) {
        const part = `/${id} ${post ? `body ${id}` : ''}`
        if (reply.body.replaceAll(part, '') !== '') wrong++
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  clearInterval(goodbye)
  const failed = outcomes.filter(one => one.error !== null)
  expect(outcomes).toHaveLength(REQUESTS)
  expect(wrong).toBe(0)
  // A request that meets the end of a session, or a refusal, twice in a row is not sent a third time.
  expect(failed.length).toBeLessThan(REQUESTS * 0.02)
  expect(failed.filter(one => one.error!.code !== 'upstream-reset' || !one.error!.unprocessed)).toEqual([])
  await until('nothing to run', () => group.stats().targets[0]!.inFlight === 0)
  expect(up.opened()).toBeGreaterThan(3)
})
