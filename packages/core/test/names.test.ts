/** Names of targets asked at a real name server. */
import { getServers, setServers } from 'node:dns'
import { describe, expect, it, onTestFinished } from 'vitest'
import { recordResolver, systemResolver } from '../src/upstream/dns/resolver.ts'
import { nameServer, type Zone } from './support/name-server.ts'
import { testUpstream, until } from './support/servers.ts'

/** Asks this server instead of the system's until the test ends. */
async function ask(zone: Zone): ReturnType<typeof nameServer> {
  const server = await nameServer(zone)
  const before = getServers()
  setServers([server.address])
  onTestFinished(() => setServers(before))
  return server
}

describe('records', () => {
  it('of both families come with their TTL', async () => {
    const { asked } = await ask({
      'both.test': {
        A: [
          ['10.0.0.1', 30],
          ['10.0.0.2', 5],
        ],
        AAAA: [['2001:db8:0:0:0:0:0:1', 60]],
      },
    })
    expect(await recordResolver('both.test')).toEqual([
      { address: '10.0.0.1', ttl: 30 },
      { address: '10.0.0.2', ttl: 5 },
      { address: '2001:db8::1', ttl: 60 },
    ])
    expect([...asked].sort()).toEqual(['A both.test', 'AAAA both.test'])
  })

  it.each([
    ['IPv4', { A: [['10.0.0.1', 1]] }, '10.0.0.1'],
    ['IPv6', { AAAA: [['2001:db8:0:0:0:0:0:2', 1]] }, '2001:db8::2'],
  ] as [string, Zone[string], string][])('of %s alone are enough', async (_family, records, address) => {
    await ask({ 'one.test': records })
    expect((await recordResolver('one.test')).map(one => one.address)).toEqual([address])
  })

  it.each(['missing.test', 'empty.test'])('that are not there (%s) are a failure', async name => {
    await ask({ 'empty.test': {} })
    await expect(recordResolver(name)).rejects.toMatchObject({ code: /^(?:ENOTFOUND|ENODATA)$/ })
  })

  it('are followed while a group runs, at the pace of their TTL', async () => {
    const zone: Zone = { 'app.test': { A: [['127.0.0.1', 0]] } }
    const { asked } = await ask(zone)
    const group = testUpstream('http://app.test:9', {
      dns: { resolver: 'records', interval: 60_000, minimum: 20 },
    })
    const addresses = (): string =>
      group
        .stats()
        .targets.map(one => one.target.split('#')[1])
        .join()
    await until('it is known', () => addresses() === '127.0.0.1')
    zone['app.test'] = {
      A: [
        ['127.0.0.2', 0],
        ['127.0.0.3', 0],
      ],
    }
    await until('it has changed', () => addresses() === '127.0.0.2,127.0.0.3')
    delete zone['app.test']
    const before = asked.length
    await until('it was asked again', () => asked.length > before + 2)
    expect(addresses()).toBe('127.0.0.2,127.0.0.3')
  })
})

it('localhost has both families, whatever the hosts file says', async () => {
  for (const name of ['localhost', 'app.localhost']) {
    const addresses = (await systemResolver(name)).map(one => one.address)
    expect(addresses).toContain('127.0.0.1')
    expect(addresses).toContain('::1')
  }
})
