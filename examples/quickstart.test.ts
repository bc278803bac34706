/** What `npm start` runs, as a process: its pages, its refusals, its messages, its way to stop. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask1, ask2, burst2 } from './support/clients.ts'
import { type Example, hasCurl, launch, shell, start, stopAll } from './support/run.ts'

afterAll(stopAll)

describe('before the demo origin', () => {
  let edge: Example
  beforeAll(async () => {
    edge = await start('quickstart.mjs', '--port', '0')
  })

  const clients = [
    ['HTTP/1.1', ask1],
    ['HTTP/2', ask2],
  ] as const
  describe.each(clients)('%s', (_name, ask) => {
    test('brings the page, with strict headers', async () => {
      const { status, headers, text } = await ask(`${edge.url}/`)
      expect(status).toBe(200)
      expect(text).toContain('<h1>The edge is up</h1>')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['strict-transport-security']).toContain('max-age=')
    })

    test('forwards a request with its body, and says who asked', async () => {
      const { text } = await ask(`${edge.url}/echo?a=%20b`, { method: 'POST', body: 'hello' })
      const seen = JSON.parse(text)
      expect(seen).toMatchObject({ method: 'POST', target: '/echo?a=%20b', bytes: 5 })
      expect(seen.headers).toContain('X-Forwarded-Proto: https')
      expect(seen.headers).toContain('X-Forwarded-For: 127.0.0.1')
    })

    const refusals = [
      [405, 'TRACE', '/', {}],
      [414, 'GET', `/?${'x'.repeat(9000)}`, {}],
      [431, 'GET', '/', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-many-${i}`, 'y']))],
    ] as const
    test.each(refusals)('answers %i to %s', async (status, method, path, headers) => {
      expect((await ask(edge.url + path, { method, headers })).status).toBe(status)
    })
  })

  test('answers probes, and 404 of the origin for other paths', async () => {
    expect((await ask1(`${edge.url}/healthz`)).text).toBe('ok')
    expect((await ask2(`${edge.url}/readyz`)).status).toBe(200)
    expect((await ask2(`${edge.url}/nothing`)).status).toBe(404)
  })

  test('logs a line a request', async () => {
    await ask1(`${edge.url}/echo?token=hidden`)
    await edge.printed('"path":"/echo?token=')
    expect(edge.output()).not.toContain('hidden')
  })

  // Ask for HTTP/2 in curl too, so that one that lacks it is no false alarm.
  test.skipIf(!hasCurl && !process.env.CI)(
    `the curl lines that it prints do what they say${hasCurl ? '' : ' (skipped: no curl with HTTP/2)'}`,
    async () => {
      const expected: [line: RegExp, answer: RegExp][] = [
        [/curl -k https:\S+\/$/, /<h1>The edge is up/],
        [/--http1\.1 \S+\/echo$/, /"X-Forwarded-Proto: https"/],
        [/\/slow$/, /^\.{20}\n$/],
        [/\/events$/, /^(id: \d+\ndata: .+\n\n){10}\n$/],
        [/\/healthz$/, /^ok$/],
        [/TRACE/, /^HTTP\/2 405 [\s\S]*allow: GET, HEAD/],
        [/%9000s/, /^HTTP\/2 414 /],
      ]
      const lines = edge.output().match(/^ {2}curl .+$/gm) ?? []
      expect(lines).toHaveLength(expected.length)
      const answers = await Promise.all(lines.map(shell))
      for (const [index, [line, answer]] of expected.entries()) {
        expect(lines[index]).toMatch(line)
        expect(answers[index]).toMatch(answer)
      }
    },
  )

  // Last, because it leaves this client's bucket empty. So many that no slow machine gives the tokens back in time.
  test('limits the rate of a client', async () => {
    const burst = await burst2(`${edge.url}/echo`, 600)
    expect(new Set(burst.map(reply => reply.status))).toEqual(new Set([200, 429]))
    expect(burst.find(reply => reply.status === 429)?.headers['retry-after']).toMatch(/^\d+$/)
  })
})

describe("before the user's own app", () => {
  test('forwards to it, and answers 502 while it is away', async () => {
    const own = createServer((req, res) => res.end(`own ${req.url}`)).listen(0, '127.0.0.1')
    await once(own, 'listening')
    const { port } = own.address() as AddressInfo
    const edge = await start('quickstart.mjs', '--port', '0', '--upstream', `http://127.0.0.1:${port}`)
    expect((await ask2(`${edge.url}/x?y`)).text).toBe('own /x?y')
    own.close()
    own.closeAllConnections()
    await once(own, 'close')
    expect((await ask2(`${edge.url}/x`)).status).toBe(502)
  })
})

describe('mistakes on the command line', { concurrent: true }, () => {
  const mistakes: [args: string[], message: RegExp][] = [
    [['--prot', '1'], /Unknown option '--prot'/],
    [['extra'], /Unexpected argument 'extra'/],
    [['--port', 'http'], /--port takes a number from 0 to 65535, not 'http'/],
    [['--port', '70000'], /not '70000'/],
    [['--port', ''], /--port takes a number/],
    [['--upstream', 'localhost:3000'], /--upstream: a target is not an http: or https: URL/],
    [['--upstream', ''], /--upstream: /],
    [['--upstream', 'http://me:pass-word@127.0.0.1:3000'], /without user/],
  ]
  test.each(mistakes)('%j: told with the usage, exit code 2', async (args, message) => {
    const { code, errors } = await launch('quickstart.mjs', ...args).ended
    expect(code).toBe(2)
    expect(errors).toMatch(message)
    expect(errors).toContain('usage: npm start')
    expect(errors).not.toContain('pass-word')
    expect(errors).not.toMatch(/^ {4}at /m)
  })

  test('--help is no mistake', async () => {
    const example = launch('quickstart.mjs', '--help')
    expect((await example.ended).code).toBe(0)
    expect(example.output()).toContain('usage: npm start')
  })

  test('a port in use: told in a sentence, exit code 1', async () => {
    const other = createTcpServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, errors } = await launch('quickstart.mjs', '--port', `${port}`).ended
    other.close()
    expect(code).toBe(1)
    expect(errors).toBe(
      `Port ${port} is in use by another program. Choose another one: npm start -- --port 9443\n`,
    )
  })
})

describe('stopping', { concurrent: true }, () => {
  /** Asks for the slow reply and waits for its first dot. */
  async function slowReply(edge: Example) {
    const sent = request(`${edge.url}/slow`, { rejectUnauthorized: false, agent: false })
    sent.end()
    const [reply] = await once(sent, 'response')
    let text = ''
    const over = new Promise<string>(resolve => {
      reply.on('data', (chunk: Buffer) => {
        text += chunk
      })
      reply.on('end', () => resolve(text))
      reply.on('error', () => resolve(`${text}broken`))
    })
    await once(reply, 'data')
    return { over, soFar: () => text }
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: what runs is finished, nothing new is taken',
    async signal => {
      const edge = await start('quickstart.mjs', '--port', '0')
      const slow = await slowReply(edge)
      edge.process.kill(signal)
      await edge.printed('Finishing what runs')
      await expect(ask1(`${edge.url}/`)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      expect(slow.soFar().length).toBeLessThan(20)
      expect(await slow.over).toBe(`${'.'.repeat(20)}\n`)
      expect((await edge.ended).code).toBe(0)
    },
  )

  test('a second Ctrl-C ends it at once', async () => {
    const edge = await start('quickstart.mjs', '--port', '0')
    const slow = await slowReply(edge)
    edge.process.kill('SIGINT')
    await edge.printed('Finishing what runs')
    edge.process.kill('SIGINT')
    expect((await edge.ended).code).toBe(130)
    expect(await slow.over).toMatch(/^\.+broken$/)
  })

  test('a SIGTERM to npm, whose shell does not pass it on, leaves no edge behind', async () => {
    const program = fileURLToPath(new URL('quickstart.mjs', import.meta.url))
    // The last command is not node, so that no shell lets node take its place.
    const line = `"${process.execPath}" "${program}" --port 0; true`
    const env = { ...process.env, npm_lifecycle_event: 'start' }
    const shell = spawn('sh', ['-c', line], { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let output = ''
      shell.stdout.on('data', text => {
        output += text
      })
      while (!output.includes('Ctrl-C stops.')) await once(shell.stdout, 'data')
      shell.kill('SIGTERM')
      // The pipe closes when the edge has ended too.
      await once(shell, 'close')
      expect(output).toContain('Finishing what runs')
    } finally {
      killGroup(shell.pid)
    }
  })
})

function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody is left, as it should be.
  }
}
