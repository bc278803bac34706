/** Session tickets: shared by processes, changed on a schedule, kept over a reload. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pipeline, reply } from '@postern/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ticketKeys, tlsOf } from '../src/index.ts'
import { authority } from './support/authority.ts'
import { client, folder, get1, secureEdge, store } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const ca = authority('Root')
const pem = ca.issue({ names: ['a.test'] })
const resumed = pipeline().handle(cx => reply(200, String(tlsOf(cx)!.resumed)))
const HOUR = 3_600_000

async function ticket(port: number): Promise<Buffer> {
  const made = await client(port, { servername: 'a.test' }, true)
  made.socket.destroy()
  return made.session!
}

test('are counted, and spare the second handshake', async () => {
  const { tls } = await store({ pem })
  const { port } = await secureEdge(tls, resumed)
  const session = await ticket(port)
  expect(await get1(port, 'a.test', { session })).toBe('200 true')
  expect(tls.counts).toMatchObject({ handshakes: 2, resumed: 1, failed: 0 })
})

test('T3: live on when certificates are swapped', async () => {
  let current = pem
  const { tls } = await store({ load: () => [current] })
  const { port, server } = await secureEdge(tls, resumed)
  const session = await ticket(port)
  current = ca.issue({ names: ['a.test'] })
  await tls.reload()
  expect(await get1(port, 'a.test', { session })).toBe('200 true')
  // The same without keys of our own.
  const own = await store({ load: () => [current], tickets: false })
  const other = await secureEdge(own.tls, resumed)
  const second = await ticket(other.port)
  await own.tls.reload()
  expect(await get1(other.port, 'a.test', { session: second })).toBe('200 true')
  expect((server as unknown as { getTicketKeys(): Buffer }).getTicketKeys()).toHaveLength(48)
})

test('hold across two processes that share a secret, and not with another secret', async () => {
  const dir = folder()
  const paths = [join(dir, 'c.pem'), join(dir, 'k.pem')]
  writeFileSync(paths[0]!, pem.cert)
  writeFileSync(paths[1]!, pem.key)
  const secret = randomBytes(32)
  const { tls } = await store({ pem, tickets: ticketKeys({ secret }) })
  const { port } = await secureEdge(tls, resumed)
  const answers: string[] = []
  for (const shared of [secret, randomBytes(32)]) {
    const program = fileURLToPath(new URL('support/ticket-server.ts', import.meta.url))
    const run = fileURLToPath(new URL('support/run.mjs', import.meta.url))
    const child = spawn(process.execPath, [run, program, shared.toString('hex'), ...paths])
    onTestFinished(() => void child.kill())
    child.stderr.on('data', text => process.stderr.write(text))
    const [line] = await once(child.stdout, 'data')
    const there = await client(Number(line), { servername: 'a.test', session: await ticket(port) })
    answers.push(await there.rest())
  }
  expect(answers).toEqual(['true', 'false'])
  // Two processes that compile the sources take their time on a busy machine.
}, 60_000)

test('keys are the same for whoever has secret and clock, and new in each period', async () => {
  const secret = randomBytes(32)
  const [one, two] = [ticketKeys({ secret }), ticketKeys({ secret: Buffer.from(secret) })]
  const at = 40_000 * 12 * HOUR
  expect(await one.keysAt(at)).toEqual(await two.keysAt(at + 11 * HOUR))
  const now = await one.keysAt(at)
  const later = await one.keysAt(at + 12 * HOUR)
  expect(later.current).not.toEqual(now.current)
  expect(later.previous).toEqual([now.current])
  expect(later.until - now.until).toBe(12 * HOUR)
  expect(() => ticketKeys({ secret: randomBytes(31) })).toThrow(/shorter than 32 bytes/)
  expect(() => ticketKeys({ rotateEvery: 1000 })).toThrow(/60000/)
})

test.each([false, true])(
  'a change of keys costs a handshake and no connection (overlap: %s)',
  async overlap => {
    let key = Buffer.alloc(48, 1)
    let before: Buffer[] = []
    // The provider asks to be asked again at once, so the clock of the store turns the keys.
    const provider = { keysAt: (now: number) => ({ current: key, previous: before, until: now + 1000 }) }
    const { tls, events } = await store({ pem, tickets: provider, overlap })
    const { port, server } = await secureEdge(tls, resumed)
    const session = await ticket(port)
    expect(await get1(port, 'a.test', { session })).toBe('200 true')
    before = [key]
    key = Buffer.alloc(48, 2)
    const secure = server as unknown as { getTicketKeys(): Buffer }
    for (let i = 0; i < 500 && !secure.getTicketKeys().equals(key); i++) {
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    const keyName = [...secure.getTicketKeys().subarray(0, 2)]
    expect(keyName).toEqual([2, 2])
    expect(await get1(port, 'a.test', { session })).toBe(`200 ${overlap}`)
    expect(await get1(port, 'a.test', { session: await ticket(port) })).toBe('200 true')
    expect(events.filter(event => event.level !== 'info')).toEqual([])
  },
)

test('a provider that fails is reported; the keys stay', async () => {
  let fails = false
  const provider = {
    keysAt: (now: number) => {
      if (fails) throw new Error('vault is sealed')
      return { current: Buffer.alloc(48, 5), previous: [], until: now + 1000 }
    },
  }
  const { tls, events } = await store({ pem, tickets: provider })
  const { port } = await secureEdge(tls, resumed)
  const session = await ticket(port)
  fails = true
  for (let i = 0; i < 500 && events.length === 0; i++) await new Promise(resolve => setTimeout(resolve, 10))
  expect(events[0]).toMatchObject({ kind: 'tickets', message: expect.stringContaining('vault is sealed') })
  expect(await get1(port, 'a.test', { session })).toBe('200 true')
  await expect(
    store({ pem, tickets: { keysAt: () => ({ current: Buffer.alloc(16), previous: [], until: 0 }) } }),
  ).rejects.toThrow(/48 bytes/)
})
