import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { ConfigFault } from '../../errors.ts'
import { ConnectionCap } from './connection-cap.ts'
import { type ClientLimits, clientSettings } from './options.ts'

class Fake extends EventEmitter {
  readonly remoteAddress: string | undefined
  reset = false
  constructor(address?: string) {
    super()
    this.remoteAddress = address
  }
  resetAndDestroy(): void {
    this.reset = true
  }
}

function cap(limits: ClientLimits, trusts: (address: string) => boolean = () => false) {
  const made = new ConnectionCap(clientSettings('attach', limits, []), trusts)
  const open = (address?: string): { socket: Fake; admitted: boolean } => {
    const socket = new Fake(address)
    const admitted = made.admit(socket as unknown as Socket)
    expect(socket.reset).toBe(!admitted)
    return { socket, admitted }
  }
  return { made, open }
}

describe('connections of one client', () => {
  it('are counted until they close, and the map with them', () => {
    const { made, open } = cap({ maxConnectionsPerClient: 2 })
    const a = open('192.0.2.1')
    const b = open('192.0.2.1')
    expect(open('192.0.2.1').admitted).toBe(false)
    expect(open('192.0.2.2').admitted).toBe(true)
    a.socket.emit('close')
    expect(open('192.0.2.1').admitted).toBe(true)
    expect(made.counts).toEqual({ open: 3, refusedTotal: 0, refusedPerClient: 1 })
    b.socket.emit('close')
    expect(made.clients).toBe(2)
  })

  it.each([
    ['one /64', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', false],
    ['another /64', '2001:db8:0:1::1', '2001:db8:0:2::1', true],
    ['an IPv4 address in its IPv6 form', '192.0.2.1', '::ffff:192.0.2.1', false],
    ['a zone', 'fe80::1%eth0', 'fe80::2%eth1', false],
  ])('%s: %s and %s', (_what, one, other, admitted) => {
    const { open } = cap({ maxConnectionsPerClient: 1 })
    open(one)
    expect(open(other).admitted).toBe(admitted)
  })

  it.each([
    ['loopback, by default', {}, '127.0.0.1'],
    ['loopback over IPv6, by default', {}, '::1'],
    ['a Unix socket, by default', {}, undefined],
    ['a block', { exemptClients: ['192.0.2.0/24'] }, '192.0.2.7'],
  ])('%s: exempt', (_what, more, address) => {
    const { made, open } = cap({ maxConnectionsPerClient: 1, ...more })
    for (let i = 0; i < 5; i++) expect(open(address).admitted).toBe(true)
    expect(made.clients).toBe(0)
  })

  it.each([
    ['loopback, with a list of its own', ['192.0.2.0/24'], '127.0.0.1'],
    ['a Unix socket, with an empty list', [], undefined],
  ])('%s: not exempt', (_what, exemptClients, address) => {
    const { open } = cap({ maxConnectionsPerClient: 1, exemptClients })
    open(address)
    expect(open(address).admitted).toBe(false)
  })

  it('a peer that the app trusts carries many clients', () => {
    const { open } = cap({ maxConnectionsPerClient: 1 }, address => address === '192.0.2.1')
    open('192.0.2.1')
    expect(open('192.0.2.1').admitted).toBe(true)
    open('192.0.2.2')
    expect(open('192.0.2.2').admitted).toBe(false)
  })

  it('no limit with 0', () => {
    const { made, open } = cap({ maxConnectionsPerClient: 0, maxConnections: 0 })
    for (let i = 0; i < 2000; i++) expect(open('192.0.2.1').admitted).toBe(true)
    expect(made.clients).toBe(0)
  })
})

it('all connections: the exempt ones count, too', () => {
  const { made, open } = cap({ maxConnections: 2 })
  const a = open('127.0.0.1')
  open(undefined)
  expect(open('192.0.2.1').admitted).toBe(false)
  expect(open('127.0.0.1').admitted).toBe(false)
  a.socket.emit('close')
  expect(open('192.0.2.1').admitted).toBe(true)
  expect(made.counts).toEqual({ open: 2, refusedTotal: 2, refusedPerClient: 0 })
})

it('an exempt client that is no address is a fault', () => {
  const faults: ConfigFault[] = []
  clientSettings('attach', { exemptClients: ['everybody'] }, faults)
  expect(faults.map(fault => fault.place)).toEqual(['attach.exemptClients'])
})
