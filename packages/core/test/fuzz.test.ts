/** Bad input of every kind: a 4xx or a closed connection, never a crash, a hung client or a leaked socket. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { pipeline, proxy } from '../src/index.ts'
import { raw1 } from './support/clients.ts'
import { edge, origin, testUpstream, until } from './support/servers.ts'

/** Small deterministic generator: a failure can be repeated by its seed. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const TOKENS = [
  'GET',
  'POST',
  'HEAD',
  'BREW',
  'get',
  ' ',
  '\t',
  '\r\n',
  '\n',
  '\r',
  '\0',
  '/',
  '//',
  '/..',
  '%2e',
  '%00',
  '*',
  '?',
  '#',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/9.9',
  'Host: a.test\r\n',
  'Host: a.test, b\r\n',
  'Host:\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Connection: close\r\n',
  'Connection: upgrade\r\n',
  'Upgrade: websocket\r\n',
  'Expect: 100-continue\r\n',
  'Expect: x\r\n',
  ': x\r\n',
  'X: \x80\xff\r\n',
  'X: \x01\r\n',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00',
  'a'.repeat(200),
  `X: ${'b'.repeat(9000)}\r\n`,
  'X: 1\r\n'.repeat(90),
]

const VALID = 'POST /a?b HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello'

function badRequest(pick: (below: number) => number): Buffer {
  if (pick(3) === 0) {
    let text = ''
    for (let i = 0, count = 1 + pick(12); i < count; i++) text += TOKENS[pick(TOKENS.length)]
    return Buffer.from(text, 'latin1')
  }
  const bytes = [...Buffer.from(VALID, 'latin1')]
  for (let i = 0, edits = 1 + pick(4); i < edits; i++) {
    const at = pick(bytes.length)
    const kind = pick(3)
    if (kind === 0) bytes[at] = pick(256)
    else if (kind === 1) bytes.splice(at, 1 + pick(3))
    else bytes.splice(at, 0, ...Buffer.from(TOKENS[pick(TOKENS.length)]!, 'latin1').subarray(0, 64))
  }
  return Buffer.from(bytes)
}

/** Sends bytes and half-closes; resolves with what came back once the connection is over. */
function send(port: number, bytes: Buffer, abrupt: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const hung = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no end after ${JSON.stringify(bytes.toString('latin1'))}`))
    }, 10_000)
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(hung)
      resolve(text)
    })
    socket.on('end', () => socket.end())
    socket.write(bytes, () => {
      if (abrupt) socket.resetAndDestroy()
      else socket.end()
    })
  })
}

describe('10,000 bad requests', () => {
  it('end in a clear answer or a closed connection', { timeout: 240_000 }, async () => {
    const faults: unknown[] = []
    const note = (fault: unknown): void => void faults.push(fault)
    process.on('unhandledRejection', note)
    process.on('uncaughtException', note)
    const up = await origin()
    const { port, server } = await edge(
      pipeline().handle(proxy(testUpstream(up.url, { timeouts: { head: 5000 } }))),
    )
    const pick = random(20_260_726)
    for (let round = 0; round < 200; round++) {
      const batch = Array.from({ length: 50 }, () => send(port, badRequest(pick), pick(10) === 0))
      for (const text of await Promise.all(batch)) {
        for (const line of text.match(/^HTTP\/1\.1 \d{3}/gm) ?? []) {
          // What happens to be valid is answered by the origin; a refusal is the client's fault, not ours.
          expect(Number(line.slice(9))).not.toBe(500)
        }
      }
    }
    // Targets that reached the origin were legal ones.
    for (const one of up.seen) expect(one.target).toMatch(/^\/[\x21-\xff]*$/)
    expect((await raw1(port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).status).toBe(200)
    await until('all sockets to close', () => {
      let open = 1
      server.getConnections((_error, count) => {
        open = count
      })
      return open === 0 || (server as unknown as { _connections: number })._connections === 0
    })
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
    expect(faults).toEqual([])
  })
})

describe('garbage on h2 ports', () => {
  it.each(['h2', 'h2c'] as const)('closes %s connections', async kind => {
    const up = await origin()
    const { port, server } = await edge(pipeline().handle(proxy(testUpstream(up.url))), kind, {
      sessionIdleTimeout: 100,
    })
    const pick = random(7)
    const sent: Promise<string>[] = []
    for (let i = 0; i < 200; i++) {
      const bytes = Buffer.from(Array.from({ length: 1 + pick(300) }, () => pick(256)))
      const preface = i % 2 === 0 ? Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') : Buffer.alloc(0)
      sent.push(send(port, Buffer.concat([preface, bytes]), false))
    }
    await Promise.all(sent)
    await until(
      'all sockets to close',
      () => (server as unknown as { _connections: number })._connections === 0,
    )
    expect(up.seen).toEqual([])
  })
})
