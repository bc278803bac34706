/** The example whose routes come from a file, as a process: the file changes, the edge goes on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ask1 } from './support/clients.ts'
import { start, stopAll } from './support/run.ts'

const folder = mkdtempSync(join(tmpdir(), 'postern-example-'))
const servers: Server[] = []
afterAll(() => {
  stopAll()
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An origin that says its name; what is asked for at /wait is answered when it is let go. */
async function named(name: string): Promise<{ url: string; letGo: () => void; waiting: () => number }> {
  const waiting: (() => void)[] = []
  const server = createServer((req, res) => {
    if (req.url === '/wait') waiting.push(() => res.end(name))
    else res.end(name)
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const letGo = (): void => {
    for (const one of waiting.splice(0)) one()
  }
  return { url: `http://127.0.0.1:${port}`, letGo, waiting: () => waiting.length }
}

test('routes from a file: what runs ends on the old ones, a file that cannot work changes nothing', async () => {
  const one = await named('one')
  const two = await named('two')
  const file = join(folder, 'routes.json')
  const write = (config: unknown): void => writeFileSync(file, JSON.stringify(config))
  write({ upstreams: { a: [one.url] }, routes: { '/*': 'a' } })
  const { url, printed, output, process: child } = await start('hot-swap.mjs', file)
  expect((await ask1(`${url}/`)).text).toBe('one')

  const running = ask1(`${url}/wait`)
  while (one.waiting() === 0) await new Promise(resolve => setTimeout(resolve, 10))
  write({ upstreams: { a: [two.url] }, routes: { '/': 'a', '/new/*': 'a' } })
  await printed('swapped\n')
  expect((await ask1(`${url}/`)).text).toBe('two')
  expect((await ask1(`${url}/new/x`)).text).toBe('two')
  expect((await ask1(`${url}/wait`)).status).toBe(404)
  expect(output()).not.toContain('gone')
  one.letGo()
  expect((await running).text).toBe('one')
  await printed('the one before is gone\n')

  // No JSON; a route to nowhere; an upstream that is not there.
  for (const [text, said] of [
    ['{', /refused: .*JSON/],
    ['{"upstreams":{},"routes":{"/":"b"}}', /refused: route \/: there is no upstream b/],
    [
      '{"upstreams":{"a":["http://127.0.0.1:1"]},"routes":{"/":"a"}}',
      /refused: swap\(app\): its check gave false/,
    ],
  ] as const) {
    writeFileSync(file, text)
    child.kill('SIGHUP')
    await printed(said)
    expect((await ask1(`${url}/`)).text).toBe('two')
  }
})
