/** Upgrades of programs that are not ours: curl and Chromium. Skipped where they are not installed; with CI set they fail. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { pipeline, proxy, reply } from '../src/index.ts'
import { edge, origin, proxyEdge, testUpstream, until } from './support/servers.ts'
import { socketOrigin } from './support/websocket.ts'

const has = (program: string): boolean => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const run = promisify(execFile)
const curl = it.skipIf(!has('curl') && !process.env.CI)
const chromium = it.skipIf(!has('chromium') && !process.env.CI)

curl('B043: curl --http2 asks for h2c and gets plain HTTP/1.1', async () => {
  const up = await origin()
  const { url } = await proxyEdge(up.url)
  const { stdout } = await run('curl', ['-sv', '--http2', '-d', 'body', `${url}/a`, '-w', '%{http_version}'])
  expect(stdout).toBe('body1.1')
  expect(up.seen[0]!.raw.join()).not.toMatch(/upgrade|http2-settings/i)
})

curl('curl opens a WebSocket by hand', async () => {
  const up = await socketOrigin()
  const { url } = await proxyEdge(up.url)
  const fields = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ].flatMap(line => ['-H', line])
  // It stays open until curl gives up.
  const failure = await run('curl', ['-siN', '-m', '2', '--http1.1', ...fields, `${url}/hello`]).catch(
    cause => cause,
  )
  expect(failure.stdout).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  expect(failure.stdout).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  expect(failure.stdout).toContain('hello')
})

chromium(
  'Chromium opens its WebSocket on the HTTP/2 session that it has (RFC 8441)',
  { timeout: 60_000 },
  async () => {
    const up = await socketOrigin()
    const page = `<script>
    const socket = new WebSocket('wss://' + location.host + '/socket')
    socket.onopen = () => socket.send('from the page')
    socket.onmessage = event => fetch('/done?' + encodeURIComponent(event.data))
    socket.onerror = () => fetch('/done?error')
  </script>`
    const versions = new Map<string, string>()
    let done: string | null = null
    const app = pipeline()
      .use({
        name: 'see',
        onRequest: ({ request }) => {
          versions.set(request.path, `${request.version} ${request.upgrade}`)
          if (request.path === '/done') done = decodeURIComponent(request.query)
        },
      })
      .route('/socket', route => route.handle(proxy(testUpstream(up.url))))
      .handle(() => reply(200, page, { headers: { 'Content-Type': 'text/html' } }))
    const { port } = await edge(app, 'h2')
    const profile = mkdtempSync(join(tmpdir(), 'postern-chromium-'))
    const browser = spawn(
      'chromium',
      [
        ...['--headless', '--no-sandbox', '--disable-gpu', '--ignore-certificate-errors'],
        // What it would ask the network for by itself costs seconds where there is none.
        ...[
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          '--disable-quic',
        ],
        ...[`--user-data-dir=${profile}`, '--remote-debugging-port=0', `https://127.0.0.1:${port}/`],
      ],
      { stdio: 'ignore' },
    )
    const ended = new Promise(resolve => browser.on('close', resolve))
    onTestFinished(async () => {
      browser.kill('SIGKILL')
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
    })
    for (let i = 0; i < 15 && done === null; i++) await until('the page', () => done !== null).catch(() => {})
    expect(done).toBe('from the page')
    expect(versions.get('/socket')).toBe('2.0 websocket')
  },
)
