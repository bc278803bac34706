/** The crowd in front of a cold key, over HTTP/2: many streams on some sessions. */
import type { ServerResponse } from 'node:http'
import { pipeline, proxy } from '@postern/core'
import { expect, test } from 'vitest'
import { request2, session2 } from '../../core/test/support/clients.ts'
import { edge, origin, testUpstream, until } from '../../core/test/support/servers.ts'
import { cache } from '../src/index.ts'
import { type Answer, turn } from './support.ts'

const FRESH = { 'Cache-Control': 'max-age=60' }
const SESSIONS = 20
const STREAMS = 50

async function crowd(answer: Answer, head = 30_000) {
  const { url, seen } = await origin(answer)
  const store = cache()
  const group = testUpstream(url, { connections: 1500, timeouts: { connect: 30_000, head, total: 60_000 } })
  const { url: base } = await edge(
    pipeline()
      .wrap(store)
      .handle(proxy(group, { retry: false })),
    'h2c',
  )
  const sessions = Array.from({ length: SESSIONS }, () => session2(base))
  const ask = () =>
    Promise.all(
      sessions.flatMap(session =>
        Array.from({ length: STREAMS }, () => request2(session, { ':path': '/x' })),
      ),
    )
  return { ask, seen, store, sessions }
}

test('a thousand streams at once: one request to the origin', { timeout: 60_000 }, async () => {
  const held: ServerResponse[] = []
  const { ask, seen } = await crowd(res => void held.push(res))
  const clients = ask()
  await until('the origin is asked', () => held.length > 0)
  await turn(300)
  held[0]!.writeHead(200, FRESH).end('one body')
  const got = await clients
  expect(got).toHaveLength(SESSIONS * STREAMS)
  expect(new Set(got.map(one => `${one.status} ${one.body} ${one.code}`))).toEqual(
    new Set(['200 one body 0']),
  )
  expect(seen).toHaveLength(1)
})

test('an answer that is not for all: each asks for itself, side by side', { timeout: 60_000 }, async () => {
  let running = 0
  let most = 0
  const { ask } = await crowd(res => {
    most = Math.max(most, ++running)
    setTimeout(() => {
      running--
      res.writeHead(200, { 'Cache-Control': 'private' }).end('mine')
    }, 300)
  })
  for (const one of await ask()) expect(one).toMatchObject({ status: 200, body: 'mine', code: 0 })
  // One after the other they would never have been so many.
  expect(most).toBeGreaterThan(100)
})

test('an origin that breaks off: one request, the same failure for all', { timeout: 60_000 }, async () => {
  const { ask, seen } = await crowd(res => setTimeout(() => res.socket!.destroy(), 1500))
  expect(new Set((await ask()).map(one => one.status))).toEqual(new Set([502]))
  expect(seen).toHaveLength(1)
})

test('an origin that stalls: one request, 504 for all when its time is up', { timeout: 60_000 }, async () => {
  const { ask, seen } = await crowd(() => {}, 2000)
  expect(new Set((await ask()).map(one => one.status))).toEqual(new Set([504]))
  expect(seen).toHaveLength(1)
})

test('an origin that breaks off in the body: no stream looks whole, nothing is stored', {
  timeout: 60_000,
}, async () => {
  const { ask, store } = await crowd(res => {
    res.writeHead(200, { ...FRESH, 'Content-Length': 100 }).write('half')
    setTimeout(() => res.socket?.destroy(), 500)
  })
  for (const one of await ask()) expect(one.code).not.toBe(0)
  expect(store.stats()).toEqual({ entries: 0, bytes: 0, fetches: 0 })
})

test('sessions that are gone hold nobody up', { timeout: 60_000 }, async () => {
  const held: ServerResponse[] = []
  const { ask, seen, sessions } = await crowd(res => void held.push(res))
  const clients = ask().catch(() => [])
  await until('the origin is asked', () => held.length > 0)
  await turn(200)
  const last = request2(sessions.at(-1)!, { ':path': '/x' })
  for (const session of sessions.slice(0, -1)) session.destroy()
  await turn(100)
  held[0]!.writeHead(200, FRESH).end('still')
  expect(await last).toMatchObject({ status: 200, body: 'still', code: 0 })
  await clients
  expect(seen).toHaveLength(1)
})
