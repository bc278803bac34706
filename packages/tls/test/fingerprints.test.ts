/** JA4 and JA3 of real clients, against an independent implementation. */
import { execFile, execFileSync } from 'node:child_process'
import { connect as connectH2 } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { type ConnectionOptions, connect } from 'node:tls'
import { calculateJa3, calculateJa4, readTlsClientHello } from 'read-tls-client-hello'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type ClientHello, ja3, ja4, parseClientHello } from '../src/index.ts'
import { folder, listen } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

/** The first flight of whatever `start` makes connect. */
async function firstFlight(start: (port: number) => void): Promise<Buffer> {
  let got: (bytes: Buffer) => void = () => {}
  const flight = new Promise<Buffer>(resolve => {
    got = resolve
  })
  const server = createServer((socket: Socket) => {
    let bytes = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk])
      if (parseClientHello(bytes) === 'more') return
      got(bytes)
      socket.destroy()
    })
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  start(port)
  return flight
}

async function compare(bytes: Buffer): Promise<string> {
  const stream = new PassThrough()
  stream.write(bytes)
  const oracle = await readTlsClientHello(stream)
  const own = parseClientHello(bytes) as ClientHello
  // The oracle writes hex of strange protocols in capitals; FoxIO's examples do not.
  expect(ja4(own).toLowerCase()).toBe(calculateJa4(oracle).toLowerCase())
  expect(ja3(own)).toBe(calculateJa3(oracle))
  return ja4(own)
}

const node: [what: string, options: ConnectionOptions][] = [
  ['as it is', {}],
  ['with a name', { servername: 'a.test' }],
  ['with h2', { servername: 'a.test', ALPNProtocols: ['h2', 'http/1.1'] }],
  ['with TLS 1.2', { servername: 'a.test', maxVersion: 'TLSv1.2' }],
  ['with other suites', { ciphers: 'TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES128-GCM-SHA256' }],
  ['with a strange protocol', { ALPNProtocols: ['é/1'] }],
  // Missing from the types of Node.
  ['with OCSP', { requestOCSP: true } as ConnectionOptions],
]
test.each(node)('Node %s', async (_what, options) => {
  const bytes = await firstFlight(port => {
    const socket = connect({ port, host: '127.0.0.1', ...options })
    socket.on('error', () => {})
  })
  await compare(bytes)
})

test('node:http2', async () => {
  const bytes = await firstFlight(port => {
    connectH2(`https://localhost:${port}`).on('error', () => {})
  })
  expect(await compare(bytes)).toMatch(/^t13d\d{4}h2_/)
})

const programs: [name: string, args: (port: number) => string[]][] = [
  ['curl', port => ['-sk', '--max-time', '5', `https://localhost:${port}/`]],
  [
    'openssl',
    port => ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'a.test', '-alpn', 'h2,http/1.1'],
  ],
  [
    'chromium',
    port => [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
      // What it would ask the network for by itself costs seconds where there is none.
      ...[
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--disable-quic',
      ],
      ...[`--user-data-dir=${folder()}`, '--host-resolver-rules=MAP localhost 127.0.0.1', '--timeout=30000'],
      ...['--dump-dom', `https://localhost:${port}/`],
    ],
  ],
]
for (const [name, args] of programs) {
  const there = has(name)
  test.skipIf(!there && !process.env.CI)(
    `${name}${there ? '' : ' (skipped: it is not installed)'}`,
    // A browser takes long to start on a busy machine, and now and then never does.
    { timeout: 60_000, retry: name === 'chromium' ? 2 : 0 },
    async () => {
      const seen = new Set<string>()
      for (let i = 0; i < (name === 'chromium' ? 1 : 2); i++) {
        const bytes = await firstFlight(port => {
          const child = execFile(name, args(port), () => {})
          child.stdin?.end()
          onTestFinished(() => void child.kill('SIGKILL'))
        })
        seen.add(await compare(bytes))
      }
      expect(seen.size).toBe(1)
    },
  )
}

function has(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}
