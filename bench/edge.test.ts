import { spawnSync } from 'node:child_process'
import { connect as connectH2 } from 'node:http2'
import { get } from 'node:https'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort, start, stopAll } from './lib/children.mjs'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const program = (path: string, ...args: string[]) => [process.execPath, file(path), ...args]

afterEach(stopAll)

async function startOrigin(): Promise<string> {
  const port = await freePort()
  expect((await start(program('origin.mjs', '--port', `${port}`))).failure).toBeNull()
  return `http://127.0.0.1:${port}`
}

it('edge.mjs --with tls speaks HTTP/2 and HTTP/1.1', async () => {
  const origin = await startOrigin()
  const port = await freePort()
  const started = await start(
    program('edge.mjs', '--with', 'tls,baseline', '--port', `${port}`, '--origin', origin),
  )
  expect(started.failure).toBeNull()
  const text = await new Promise<string>((resolve, reject) => {
    const session = connectH2(`https://localhost:${port}`, { rejectUnauthorized: false })
    session.on('error', reject)
    const stream = session.request({ ':path': '/' })
    let body = ''
    stream.on('data', chunk => {
      body += chunk
    })
    stream.on('end', () => {
      session.destroy()
      resolve(body)
    })
  })
  expect(text).toHaveLength(174)
  const status = await new Promise(resolve => {
    get({ port, path: '/', rejectUnauthorized: false, agent: false }, res => {
      res.resume()
      resolve(res.statusCode)
    })
  })
  expect(status).toBe(200)
})

describe('edge and peers', () => {
  const rows: readonly (readonly [string, ...string[]])[] = [
    ['edge.mjs'],
    ['edge.mjs', '--with', 'baseline'],
    ['edge.mjs', '--with', 'baseline,cache'],
    ['edge.mjs', '--with', 'baseline,waf-balanced,waf-aggressive'],
    ['peers/undici.mjs'],
    ['peers/http-proxy.mjs'],
    ['peers/httpxy.mjs'],
    ['peers/fast-proxy.mjs'],
    ['peers/fastify-http-proxy.mjs'],
  ]
  for (const [path, ...args] of rows) {
    it(`${[path, ...args].join(' ')} gives the origin's bodies and ends with what it was told to`, async () => {
      const origin = await startOrigin()
      const port = await freePort()
      const started = await start(program(path, ...args, '--port', `${port}`, '--origin', origin))
      expect(started.failure).toBeNull()
      for (const [target, length] of [
        ['/', 174],
        ['/100k', 102_400],
      ] as const) {
        const [expected, actual] = await Promise.all(
          [origin, `http://127.0.0.1:${port}`].map(async base => (await fetch(base + target)).text()),
        )
        expect(expected).toHaveLength(length)
        expect(actual).toBe(expected)
      }
      await stopAll()
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    })
  }

  it.each(['waf-balanced', 'waf-aggressive'])('edge.mjs --with %s refuses an attack', async name => {
    const port = await freePort()
    const started = await start(
      program('edge.mjs', '--with', name, '--port', `${port}`, '--origin', await startOrigin()),
    )
    expect(started.failure).toBeNull()
    expect((await fetch(`http://127.0.0.1:${port}/?id=${encodeURIComponent("1' or '1'='1")}`)).status).toBe(
      403,
    )
    expect((await fetch(`http://127.0.0.1:${port}/?name=O'Reilly`)).status).toBe(404)
  })

  it('an origin that is gone gives 502, not a crash', async () => {
    const port = await freePort()
    const gone = `http://127.0.0.1:${await freePort()}`
    const { failure } = await start(program('edge.mjs', '--port', `${port}`, '--origin', gone))
    expect(failure).toBeNull()
    for (let i = 0; i < 2; i++) expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(502)
  })
})

describe('command lines', () => {
  it('an unknown feature ends with the usage and code 2', () => {
    const args = ['--port', '1', '--origin', 'http://127.0.0.1:1', '--with', 'baseline,nonsense']
    const { status, stderr } = spawnSync(process.execPath, [file('edge.mjs'), ...args], { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stderr).toMatch(/'nonsense'[\s\S]*usage:[\s\S]*names: .*baseline/)
  })

  it('a peer that is not installed ends with code 3', () => {
    const args = ['--port', '1', '--origin', 'http://127.0.0.1:1']
    const env = { PATH: '/nonexistent' }
    const { status, stderr } = spawnSync(process.execPath, [file('peers/caddy.mjs'), ...args], {
      env,
      encoding: 'utf8',
    })
    expect(status).toBe(3)
    expect(stderr).toContain('caddy is not installed')
  })
})
