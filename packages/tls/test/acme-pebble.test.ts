/** ACME against Pebble, with nonces that are rejected and external accounts: issue, renew, serve. */
import { createServer } from 'node:http'
import type { Server as TcpServer } from 'node:net'
import { attach, pipeline, reply } from '@postern/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type AcmeOptions,
  acme,
  type CertificateStore,
  certificates,
  listen,
  memoryStorage,
  redirectToHttps,
  type TlsEvent,
} from '../src/index.ts'
import { freePort, hasPebble, type Pebble, pebble } from './support/pebble.ts'
import { folder, get1, until } from './support/servers.ts'

const withPebble = hasPebble || process.env.CI ? describe : describe.skip
const external = { keyId: 'kid-1', key: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' }

interface Made {
  ca: Pebble
  tls: CertificateStore
  port: number
  events: TlsEvent[]
  issuer: ReturnType<typeof acme>
}

/** A front on the ports that Pebble validates at. */
async function edge(
  options: Partial<AcmeOptions>,
  pebbleOptions: object = {},
  more: object = {},
): Promise<Made> {
  const [httpPort, tlsPort] = [await freePort(), await freePort()]
  const ca = await pebble({ httpPort, tlsPort, ...pebbleOptions })
  const events: TlsEvent[] = []
  const log = (event: TlsEvent): void => void events.push(event)
  const issuer = acme({
    names: [],
    acceptTerms: true,
    storage: memoryStorage(),
    log,
    ...options,
    authorities: [{ directory: ca.directory, ca: ca.ca, ...options.authorities?.[0] }] as never,
  })
  const tls = await certificates({ acme: issuer, log, ...more })
  const front = await listen(
    tls,
    pipeline().handle(() => reply(200, 'hello')),
    { port: tlsPort, host: '127.0.0.1' },
  )
  const port80 = createServer()
  const attached = attach(port80 as TcpServer, pipeline().use(issuer.http01()).handle(redirectToHttps()))
  port80.listen(httpPort, '127.0.0.1')
  onTestFinished(async () => {
    tls.close()
    await front.drain(0)
    await attached.drain(0)
  })
  return { ca, tls, port: tlsPort, events, issuer }
}

async function issued({ tls, events }: Made, name: string): Promise<void> {
  await until(`a certificate for ${name}`, () => {
    const failed = events.find(event => event.kind === 'acme-failed')
    if (failed) throw new Error(failed.message)
    return tls.find(name) !== null
  })
}

// Pebble starts and validates at its own pace.
withPebble(
  `with Pebble${hasPebble ? '' : ' (skipped: pebble is not installed)'}`,
  { timeout: 60_000 },
  () => {
    test.each(['tls-alpn-01', 'http-01'] as const)(
      'issues by %s, one certificate for two names, and serves it',
      async type => {
        const made = await edge(
          { names: [['a.example.com', 'b.example.com'], 'c.example.com'], challenges: [type] },
          { nonces: 40 },
        )
        expect(made.tls.isReady()).toBe(false)
        await issued(made, 'c.example.com')
        const root = await made.ca.issuingRoot()
        for (const name of ['a.example.com', 'b.example.com', 'c.example.com']) {
          expect(await get1(made.port, name, { ca: root, rejectUnauthorized: true })).toBe('200 hello')
        }
        expect(made.tls.find('a.example.com')?.names).toEqual(['a.example.com', 'b.example.com'])
        expect(made.events.filter(event => event.level !== 'info')).toEqual([])
        expect(made.tls.isReady()).toBe(true)
      },
    )

    test('issues a wildcard by dns-01 through a function, and takes the record away', async () => {
      const records = new Map<string, string>()
      let ca: Pebble | null = null
      const dns = {
        set: async (name: string, value: string) => {
          records.set(name, value)
          await ca!.setTxt(name, value)
        },
        remove: async (name: string) => {
          records.delete(name)
          await ca!.clearTxt(name)
        },
      }
      // The first look waits for Pebble's address.
      const made = await edge({
        names: ['*.w.example.com'],
        challenges: ['dns-01'],
        dns: {
          set: async (n, v) => {
            await until('known', () => ca !== null)
            await dns.set(n, v)
          },
          remove: dns.remove,
        },
      })
      ca = made.ca
      await issued(made, 'x.w.example.com')
      expect(made.tls.find('x.w.example.com')?.names).toEqual(['*.w.example.com'])
      expect(records.size).toBe(0)
    })

    test('binds an external account, and says what is wrong without one', async () => {
      const made = await edge(
        { names: ['e.example.com'], authorities: [{ externalAccount: external } as never] },
        { external },
      )
      await issued(made, 'e.example.com')
      const without = await edge({ names: ['e.example.com'] }, { external })
      await until('it is told', () => without.events.some(event => event.kind === 'acme-failed'))
      expect(without.events[0]?.message).toMatch(/externalAccountRequired/)
      expect(JSON.stringify(without.events)).not.toContain(external.key)
    })

    test('a name that cannot be validated fails, waits, and is not asked for again at once', async () => {
      const made = await edge(
        { names: ['f.example.com'], challenges: ['http-01'] },
        { nonces: 0, httpPort: await freePort() },
      )
      await until('it fails', () => made.events.some(event => event.kind === 'acme-failed'))
      expect(made.events[0]?.message).toMatch(
        /^no certificate for f\.example\.com: .*f\.example\.com by http-01.*next attempt at 20/,
      )
      await made.issuer.check()
      await made.issuer.check()
      expect(made.events.filter(event => event.kind === 'acme-failed')).toHaveLength(1)
    })

    test('renews under load: no handshake fails, and validations by TLS-ALPN-01 disturb nobody', async () => {
      let now = Date.now()
      const storage = folder()
      const made = await edge({ names: ['r.example.com'], storage, clock: () => now })
      await issued(made, 'r.example.com')
      const root = await made.ca.issuingRoot()
      const first = made.tls.find('r.example.com')!
      const seen = new Set<string>()
      let stop = false
      // Also when something fails before the end: nothing may go on asking for ever.
      onTestFinished(() => {
        stop = true
      })
      let failed = 0
      const load = Array.from({ length: 4 }, async () => {
        while (!stop) {
          const answer = await get1(made.port, 'r.example.com', { ca: root, rejectUnauthorized: true })
          if (answer !== '200 hello') failed++
          else seen.add(answer)
        }
      })
      for (let round = 0; round < 3; round++) {
        const before = made.tls.find('r.example.com')!.fingerprint256
        // Pebble's clock stands still beside ours; a certificate that was just issued rests for an hour.
        const { validFrom } = made.tls.find('r.example.com')!
        now = validFrom + (first.validTo - first.validFrom) * 0.7 + round * 7_200_000
        await made.issuer.check()
        expect(made.tls.find('r.example.com')!.fingerprint256).not.toBe(before)
      }
      stop = true
      await Promise.all(load)
      expect([failed, seen.size]).toEqual([0, 1])
      expect(made.tls.counts.failed).toBe(0)
    })

    test('on demand: the first handshake waits for its certificate; others are refused', async () => {
      const asked: string[] = []
      const allow = (name: string): boolean => {
        asked.push(name)
        return name === 'd.example.com'
      }
      const made = await edge({ names: [], onDemand: { allow } }, {}, { unknownNames: 'refuse' })
      const answers = await Promise.all(Array.from({ length: 3 }, () => get1(made.port, 'd.example.com')))
      expect(answers).toEqual(['200 hello', '200 hello', '200 hello'])
      for (let i = 0; i < 3; i++) expect(await get1(made.port, 'other.example.com')).toBe('closed')
      expect(await get1(made.port, 'localhost')).toBe('closed')
      expect(asked).toEqual(['d.example.com', 'other.example.com'])
      expect(made.events.filter(event => event.kind === 'acme-issued')).toHaveLength(1)
    })
  },
)
