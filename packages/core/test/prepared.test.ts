/** Answers with a prepared head: on the wire, they are what they are without it. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import {
  type App,
  HeaderList,
  KeptBody,
  PreparedLines,
  pipeline,
  type Reply,
  toHandler,
} from '../src/index.ts'
import { request2, session2 } from './support/clients.ts'
import { edge } from './support/servers.ts'

const FIELDS = ['Content-Type', 'text/plain', 'Content-Length', '4', 'Date', 'then', 'ETag', '"\xe9"']

interface Kind {
  fields?: readonly string[]
  more?: readonly string[]
  body?: string | Uint8Array
  status?: number
}

function answer(
  { fields = FIELDS, more = ['Age', '1'], body = 'body', status = 200 }: Kind,
  isPrepared: boolean,
): Reply {
  const headers = new HeaderList([...fields, ...more])
  const prepared = isPrepared ? (PreparedLines.of(fields) ?? undefined) : undefined
  return { status, headers, body: new KeptBody(body), prepared }
}

/** Everything that comes back on one connection for these bytes. */
function exchange(port: number, bytes: string, answers = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('data', chunk => {
      text += chunk
      if (text.split('HTTP/1.1 ').length > answers && !bytes.includes('close'))
        setTimeout(() => socket.end(), 30)
    })
    socket.on('close', () => resolve(text.replace(/Date: \w{3}, .*\r\n/g, 'Date: *\r\n')))
    socket.write(bytes, 'latin1')
  })
}

async function both(
  kind: Kind,
  bytes: string,
  answers = 1,
  wrap = (app: App) => app,
): Promise<[string, string]> {
  const results: string[] = []
  for (const isPrepared of [true, false]) {
    const { port } = await edge(wrap(pipeline().handle(() => answer(kind, isPrepared))))
    results.push(await exchange(port, bytes, answers))
  }
  return results as [string, string]
}

/** Lines in any order: the length stands elsewhere. */
const sorted = (text: string): string[] => text.split('\r\n').sort()

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

test.each([
  ['a hit', {}, GET, 1],
  ['two on one connection, pipelined', {}, GET + GET, 2],
  ['the last one', {}, GET.replace('Host', 'Connection: close\r\nHost'), 1],
  ['HTTP/1.0', {}, 'GET / HTTP/1.0\r\n\r\n', 1],
  ['HTTP/1.0 that keeps alive', {}, 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 1],
  ['HEAD', {}, GET.replace('GET', 'HEAD'), 1],
  ['a request with a body', {}, 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab', 1],
  ['without a Date', { fields: FIELDS.filter((_, i) => i < 4 || i > 5) }, GET, 1],
  ['another status', { status: 404 }, GET, 1],
  ['no content', { status: 204, body: '', fields: ['A', 'b'] }, GET, 1],
  ['a field of the connection', { more: ['Connection', 'close'] }, GET, 1],
  ['bytes', { body: Buffer.from('\xffb\0d', 'latin1') }, GET, 1],
  ['no body', { body: '', fields: ['Content-Length', '0'] }, GET, 1],
  ['a length that is not that of the body', { body: 'longer' }, GET, 1],
  ['an illegal field behind', { more: ['A', 'b\r\nC: d'] }, GET, 1],
] as [string, Kind, string, number][])('%s: the same bytes', async (_, kind, bytes, answers) => {
  const [prepared, plain] = await both(kind, bytes, answers)
  expect(plain).toContain('HTTP/1.1 ')
  expect(sorted(prepared)).toEqual(sorted(plain))
})

test('it is the prepared text that is sent: the length stands behind it', async () => {
  const places = (await both({}, GET)).map(text => text.indexOf('Content-Length') > text.indexOf('ETag'))
  expect(places).toEqual([true, false])
})

test('any fields and any body: the same bytes', async () => {
  const name = fc.constantFrom('A', 'a', 'Date', 'X-Long-Name', 'Set-Cookie', 'Vary', 'Content-Type')
  const value = fc.stringMatching(/^[!-~\x80-\xff]([ -~\x80-\xff]{0,20}[!-~\x80-\xff])?$/)
  const fields = fc.array(fc.tuple(name, value), { maxLength: 5 }).map(list => list.flat())
  let kind: Kind = {}
  let isPrepared = false
  const { port } = await edge(pipeline().handle(() => answer(kind, isPrepared)))
  await fc.assert(
    fc.asyncProperty(fields, fields, fc.uint8Array({ maxLength: 50 }), async (front, more, body) => {
      kind = {
        fields: [...front, 'Content-Length', `${body.length}`],
        more,
        body: Buffer.from(body).toString('latin1'),
      }
      const close = GET.replace('Host', 'Connection: close\r\nHost')
      isPrepared = true
      const prepared = await exchange(port, close)
      isPrepared = false
      expect(sorted(prepared)).toEqual(sorted(await exchange(port, close)))
    }),
    { numRuns: 60 },
  )
}, 60_000)

test('what hooks and wrappers do to the head is what is sent', async () => {
  const edited = pipeline()
    .use({ name: 'edit', onReply: (_, head) => void head.headers.set('ETag', '"new"') })
    .wrap(inner => async cx => {
      const reply = await inner(cx)
      reply.headers.delete('content-type')
      reply.headers.append('X-More', 'y')
      return reply
    })
    .handle(() => answer({}, true))
  const text = await exchange((await edge(edited)).port, GET)
  expect(text).toContain('ETag: "new"\r\n')
  expect(text).toContain('X-More: y\r\n')
  expect(text).not.toContain('text/plain')
  expect(text.endsWith('\r\n\r\nbody')).toBe(true)
})

test('fields that a host has set before are sent, too', async () => {
  const handler = toHandler(pipeline().handle(() => answer({}, true)))
  const server = createServer((req, res) => {
    res.setHeader('X-Host', 'here')
    void handler(req, res)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const text = await exchange((server.address() as AddressInfo).port, GET)
  expect(text).toMatch(/x-host: here/i)
  expect(text.endsWith('\r\n\r\nbody')).toBe(true)
})

test('HTTP/2 sends the fields and the body', async () => {
  const session = session2(
    (
      await edge(
        pipeline().handle(() => answer({}, true)),
        'h2c',
      )
    ).url,
  )
  const got = await request2(session, { ':path': '/' })
  expect(got).toMatchObject({ status: 200, body: 'body', headers: { age: '1', 'content-length': '4' } })
})
