import { BlockList, isIP } from 'node:net'
import { Mistake } from '../parse/fault.ts'
import { ANY_VALUE, type Operator, type OperatorFactory } from './operator.ts'

/** `@ipMatch`: one of the addresses or networks, separated by commas. IPv4 in IPv6 counts as IPv4. */
export const ipMatch: OperatorFactory = argument => listOperator(argument.split(','))

/** `@ipMatchFromFile`: one address or network a line; lines that start with `#` are comments. */
export const ipMatchFromFile: OperatorFactory = (argument, source) =>
  listOperator(
    source
      .file(argument.trim())
      .split(/\r?\n/)
      .filter(line => !line.trimStart().startsWith('#')),
  )

function listOperator(entries: readonly string[]): Operator {
  // One list for each family: a single one would compare IPv4 addresses with IPv6 networks.
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const entry of entries.map(text => text.trim()).filter(Boolean)) add(lists, entry)
  return {
    literals: ANY_VALUE,
    match({ text }) {
      const address = isIP(text) === 6 ? unmapped(text) : text
      const family = isIP(address)
      return family === 4 ? lists[4].check(address, 'ipv4') : family === 6 && lists[6].check(address, 'ipv6')
    },
  }
}

function add(lists: Readonly<Record<4 | 6, BlockList>>, entry: string): void {
  const [written, prefix] = entry.split('/') as [string, string | undefined]
  const wraps = isIP(written) === 6 && isIP(unmapped(written)) === 4 && Number(prefix ?? 128) >= 96
  const address = wraps ? unmapped(written) : written
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  const bits = prefix === undefined ? most : Number(prefix) - (wraps ? 96 : 0)
  if (family === 0 || !Number.isInteger(bits) || bits < 0 || bits > most || prefix === '') {
    throw new Mistake(
      `'${entry.slice(0, 60)}' is no address or network`,
      'Write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32.',
    )
  }
  lists[family === 4 ? 4 : 6].addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
}

/** The IPv4 address that an IPv6 one wraps, or the address itself. */
function unmapped(text: string): string {
  const { hostname } = new URL(`http://[${text.split('%', 1)[0]}]/`)
  const found = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname)
  if (!found) return text
  const [high, low] = [Number.parseInt(found[1]!, 16), Number.parseInt(found[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
