/** OCSP stapling with responses that openssl made. */
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { pipeline, reply } from '@postern/core'
import { describe, expect, test, vi } from 'vitest'
import { authority, type Issued } from './support/authority.ts'
import { folder, secureEdge, store, until } from './support/servers.ts'

// Handshakes and keys take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const hello = pipeline().handle(() => reply(200))
const hasOpenssl = ((): boolean => {
  try {
    return execFileSync('openssl', ['version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
})()
const withOpenssl = hasOpenssl || process.env.CI ? describe : describe.skip
const ca = authority('Root')

/** A response of this authority about a certificate. */
function respond(leaf: Issued, status: 'V' | 'R' = 'V', days = 1): Buffer {
  const dir = folder()
  const path = (name: string): string => join(dir, name)
  const serial = new X509Certificate(leaf.cert).serialNumber
  writeFileSync(path('ca.pem'), ca.cert)
  writeFileSync(path('ca.key'), ca.key)
  writeFileSync(path('leaf.pem'), leaf.cert)
  writeFileSync(
    path('index'),
    `${status}\t491231235959Z\t${status === 'R' ? '200101000000Z' : ''}\t${serial}\tunknown\t/CN=x\n`,
  )
  const base = ['ocsp', '-issuer', path('ca.pem'), '-cert', path('leaf.pem')]
  execFileSync('openssl', [...base, '-reqout', path('req')], { stdio: 'pipe' })
  const signer = ['-rsigner', path('ca.pem'), '-rkey', path('ca.key'), '-CA', path('ca.pem')]
  execFileSync(
    'openssl',
    [
      'ocsp',
      '-index',
      path('index'),
      ...signer,
      '-reqin',
      path('req'),
      '-ndays',
      String(days),
      '-respout',
      path('resp'),
    ],
    { stdio: 'pipe' },
  )
  return readFileSync(path('resp'))
}

withOpenssl(`with openssl${hasOpenssl ? '' : ' (skipped: no openssl)'}`, () => {
  const [a, b] = [ca.issue({ names: ['a.test'] }), ca.issue({ names: ['b.test'] })]

  async function responseOf(
    options: Parameters<typeof store>[0],
    name = 'a.test',
  ): Promise<[Buffer | null, string[]]> {
    const { tls, events } = await store(options)
    const { port } = await secureEdge(tls, hello)
    return [await watch(port, name), events.map(event => event.message)]
  }

  test('a response from a file beside the certificate', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'a.pem'), a.cert + a.key)
    writeFileSync(join(dir, 'b.pem'), b.cert + b.key)
    const response = respond(a)
    writeFileSync(join(dir, 'a.ocsp'), response)
    expect(await responseOf({ dir })).toEqual([response, []])
    expect(await responseOf({ dir }, 'b.test')).toEqual([null, []])
  })

  const wrong: [what: string, response: () => Buffer, reason: RegExp][] = [
    ['of another certificate', () => respond(b), /another certificate/],
    ['that says revoked', () => respond(a, 'R'), /revoked/],
    ['that is no DER', () => Buffer.from('hello'), /DER/],
    ['that is cut', () => respond(a).subarray(0, 100), /cut/],
  ]
  test.each(wrong)('one %s is not stapled, and told', async (_what, response, reason) => {
    const [found, messages] = await responseOf({ pem: { ...a, ocsp: response() } })
    expect(found).toBeNull()
    expect(messages).toEqual([expect.stringMatching(reason)])
  })

  test('an old one is not stapled any more', async () => {
    const response = respond(a)
    let now = Date.now()
    const { tls } = await store({ pem: { ...a, ocsp: response }, clock: () => now, tickets: false })
    const { port } = await secureEdge(tls, hello)
    expect(await watch(port, 'a.test')).not.toBeNull()
    now += 2 * 86_400_000
    expect(await watch(port, 'a.test')).toBeNull()
  })

  test('a function is asked once, and again at a reload for what is new', async () => {
    const asked: string[] = []
    let current = a
    const { tls } = await store({
      load: () => [current],
      ocsp: certificate => {
        asked.push(certificate.names.join())
        return certificate.names[0] === 'a.test' ? respond(a) : null
      },
    })
    const { port } = await secureEdge(tls, hello)
    await until('it is stapled', async () => (await watch(port, 'a.test')) !== null)
    await tls.reload()
    current = b
    await tls.reload()
    await until('the new one is asked for', () => asked.length > 1)
    expect(asked).toEqual(['a.test', 'b.test'])
    expect(await watch(port, 'b.test')).toBeNull()
  })
})

/** The response that comes with a handshake; `null` for none. */
async function watch(port: number, servername: string): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername,
      rejectUnauthorized: false,
      // Missing from the types of Node.
      requestOCSP: true,
    } as ConnectionOptions)
    let response: Buffer | null = null
    socket.on('OCSPResponse', bytes => {
      response = bytes?.length ? bytes : null
    })
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      socket.destroy()
      resolve(response)
    })
  })
}
