/** The example with two names as a process: its curl lines, and a certificate that is replaced while it runs. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { developmentCertificate } from '@postern/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Example, hasCurl, start, stopAll } from './support/run.ts'

const folder = mkdtempSync(join(tmpdir(), 'postern-example-'))
let example: Example
let port = ''
beforeAll(async () => {
  example = await start('two-names.mjs', folder)
  port = new URL(example.url).port
})
afterAll(() => {
  stopAll()
  rmSync(folder, { recursive: true, force: true })
})

const text = readFileSync(fileURLToPath(new URL('two-names.mjs', import.meta.url)), 'utf8')
const lines = [...text.matchAll(/^\/\/ (curl .+?)(?: {3,}.*)?$/gm)].map(match => match[1]!)
const answers = [
  /^public: TLSv1\.3, h2, JA4 t13d\w+\n$/,
  /^admin: [0-9a-f]{16}…\n$/,
  /^curl ended with [1-9]\d*$/,
  /^421 misdirected\n$/,
  /^HTTP\/1\.1 308 [\s\S]*Location: https:\/\/public\.localhost:\d+\/\r\n/i,
]

test.skipIf(!hasCurl && !process.env.CI)(
  `its curl lines${hasCurl ? '' : ' (skipped: no curl with HTTP/2)'}`,
  async () => {
    expect(lines).toHaveLength(answers.length)
    for (const [index, line] of lines.entries()) {
      const command = line.replaceAll('8443', port).replace('./two-names', folder).replace('curl', 'curl -s')
      const output = await new Promise<string>(resolve => {
        execFile('sh', ['-c', command], (error, stdout) =>
          resolve(error ? `curl ended with ${error.code}` : stdout),
        )
      })
      expect(output, command).toMatch(answers[index]!)
    }
  },
)

test('a certificate that is replaced is served by the next handshake', async () => {
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: Number(port),
        servername: 'public.localhost',
        rejectUnauthorized: false,
      }
      const socket = connect(options, () => {
        resolve(socket.getPeerCertificate().fingerprint256)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const before = await shown()
  const { key, cert, fingerprint256 } = developmentCertificate({ names: ['public.localhost'] })
  writeFileSync(join(folder, 'servers', 'public.pem'), cert + key)
  await example.printed('info reloaded')
  expect(before).not.toBe(fingerprint256)
  expect(await shown()).toBe(fingerprint256)
})

test('ends when it is told to', async () => {
  example.process.kill('SIGTERM')
  expect((await example.ended).code).toBe(0)
})
