/** A development certificate before clients that check it: node:tls, node:http2 and openssl. */
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, checkServerIdentity, connect, createServer, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { developmentCertificate } from '@postern/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const made = developmentCertificate({ names: ['localhost', '127.0.0.1', '::1', '*.app.localhost'] })
const other = developmentCertificate()

describe('a TLS client that verifies strictly', () => {
  const server = createServer({ key: made.key, cert: made.cert }, socket => socket.end('hello'))
  server.on('tlsClientError', () => {})

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => void server.close())

  async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: true, ca: made.cert, ...options })
    try {
      await once(socket, 'secureConnect')
      return socket
    } finally {
      socket.destroy()
    }
  }

  const versions = ['TLSv1.2', 'TLSv1.3'] as const
  describe.each(versions)('%s', version => {
    test.each(['localhost', 'x.app.localhost'])('accepts it for %s', async servername => {
      const socket = await handshake({ servername, minVersion: version, maxVersion: version })
      expect(socket.authorized).toBe(true)
    })

    // The server is at 127.0.0.1; not every machine has ::1. No name is sent for an address, so only the check differs.
    test.each(['127.0.0.1', '::1'])('accepts it for %s', async address => {
      const socket = await handshake({
        minVersion: version,
        maxVersion: version,
        checkServerIdentity: (_host, cert) => checkServerIdentity(address, cert),
      })
      expect(socket.authorized).toBe(true)
    })
  })

  const refusals: [why: string, options: ConnectionOptions, code: string][] = [
    ['for another name', { servername: 'example.com' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'for a name two labels below the wildcard',
      { servername: 'x.y.app.localhost' },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'when another one of its kind is trusted',
      { servername: 'localhost', ca: other.cert },
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
  ]
  test.each(refusals)('refuses it %s', async (_why, options, code) => {
    await expect(handshake(options)).rejects.toMatchObject({ code })
  })
})

const openssl = findOpenssl()
// A machine that runs CI has it; elsewhere its absence is told and no fault.
const withOpenssl = openssl === null && !process.env.CI ? describe.skip : describe

withOpenssl(`openssl reads it${openssl === null ? ' (skipped: no openssl on this machine)' : ''}`, () => {
  let folder: string
  let file: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'postern-certificate-'))
    file = join(folder, 'cert.pem')
    writeFileSync(file, made.cert)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('as a version 3 certificate with each extension where it belongs', async () => {
    const { stdout } = await run('openssl', ['x509', '-in', file, '-noout', '-text'])
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain('Version: 3 (0x2)')
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256')
    expect(text).toContain('X509v3 Basic Constraints: critical CA:FALSE')
    expect(text).toContain('X509v3 Key Usage: critical Digital Signature X509v3')
    expect(text).toContain('X509v3 Extended Key Usage: TLS Web Server Authentication')
    expect(text).toMatch(/X509v3 Subject Key Identifier: ([0-9A-F]{2}:){19}[0-9A-F]{2} /)
    expect(text).toContain(
      'X509v3 Subject Alternative Name: DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:*.app.localhost',
    )
  })

  const names = [
    '-verify_hostname localhost',
    '-verify_hostname x.app.localhost',
    '-verify_ip 127.0.0.1',
    '-verify_ip ::1',
  ]
  test.each(names)('and verifies it strictly: %s', async name => {
    const { stdout } = await run('openssl', [
      ...['verify', '-x509_strict', '-check_ss_sig', '-purpose', 'sslserver', '-CAfile', file],
      ...[...name.split(' '), file],
    ])
    expect(stdout.trim()).toBe(`${file}: OK`)
  })

  test.each(['-verify_hostname example.com', '-verify_ip 10.0.0.1', '-purpose sslclient'])(
    'and refuses it: %s',
    async name => {
      const verify = run('openssl', ['verify', '-CAfile', file, ...name.split(' '), file])
      await expect(verify).rejects.toMatchObject({ code: 2 })
    },
  )
})

function findOpenssl(): string | null {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return null
  }
}
