/** Requests that wait for a connection to an upstream. */
import { expect, it } from 'vitest'
import { pipeline, proxy } from '../src/index.ts'
import { exchangeBytes, openSocket, session2 } from './support/clients.ts'
import { edge, rawOrigin, testUpstream, until } from './support/servers.ts'

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a.test\r\n\r\n`

it('a client that leaves the queue gives up its place at once', async () => {
  const up = await rawOrigin(() => {})
  const { port } = await edge(pipeline().handle(proxy(testUpstream(up.url, { connections: 1, queue: 2 }))))
  openSocket(port).write(get('/busy'))
  await until('the connection to be busy', () => up.received().includes('/busy'))
  const full = async (): Promise<boolean> =>
    (await exchangeBytes(port, get('/probe'), 100)).text.includes(' 503 ')
  // More than ever fit, one after the other: each has left before the next comes.
  for (let i = 0; i < 20; i++) {
    const waiting = [openSocket(port), openSocket(port)]
    for (const socket of waiting) socket.write(get('/wait'))
    let isFull = false
    for (let n = 0; n < 50 && !isFull; n++) isFull = await full()
    expect(isFull).toBe(true)
    for (const socket of waiting) socket.destroy()
  }
  expect(up.received()).not.toContain('/wait')
})

it('those that stay are served in their order, and none that left is sent', async () => {
  const answers: (() => void)[] = []
  const up = await rawOrigin(socket =>
    socket.on('data', () =>
      answers.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
    ),
  )
  let left = 0
  const { url } = await edge(
    pipeline()
      .use({ name: 'watch', onDone: (_cx, outcome) => void (left += outcome.status === 499 ? 1 : 0) })
      .handle(proxy(testUpstream(up.url, { connections: 1, queue: 10 }))),
    'h2c',
  )
  const session = session2(url)
  const streams = Array.from({ length: 6 }, (_, i) => {
    const stream = session.request({ ':path': `/${i}`, ':authority': 'a.test' })
    stream.on('error', () => {})
    stream.resume()
    return stream
  })
  await until('the first', () => answers.length === 1)
  streams[2]!.close(8)
  streams[4]!.close(8)
  await until('both to have left', () => left === 2)
  for (let i = 0; i < 4; i++) {
    await until(`answer ${i}`, () => answers.length === i + 1)
    answers[i]!()
  }
  await until('the last stream to end', () => streams[5]!.closed)
  expect(up.received().match(/GET \/\d/g)).toEqual(['GET /0', 'GET /1', 'GET /3', 'GET /5'])
})

it('close() waits for those in the queue; destroy() fails them', async () => {
  const answers: (() => void)[] = []
  const up = await rawOrigin(socket =>
    socket.on('data', () =>
      answers.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
    ),
  )
  const group = testUpstream(up.url, { connections: 1 })
  const { port } = await edge(pipeline().handle(proxy(group)))
  const both = [exchangeBytes(port, get('/1')), exchangeBytes(port, get('/2'))]
  await until('the first', () => answers.length === 1)
  const closed = group.close()
  answers[0]!()
  await until('the second', () => answers.length === 2)
  answers[1]!()
  await closed
  for (const one of both) expect((await one).text).toMatch(/^HTTP\/1\.1 200/)
  expect((await exchangeBytes(port, get('/3'))).text).toMatch(/^HTTP\/1\.1 503/)

  const other = testUpstream(up.url, { connections: 1 })
  const second = await edge(pipeline().handle(proxy(other)))
  const failing = [exchangeBytes(second.port, get('/4')), exchangeBytes(second.port, get('/5'))]
  await until('the third', () => answers.length === 3)
  await other.destroy()
  for (const one of failing) expect((await one).text).toMatch(/^HTTP\/1\.1 502/)
})
