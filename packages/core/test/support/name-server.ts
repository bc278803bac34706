/** A name server on this machine: what it is told to answer, and what it was asked. */
import { createSocket, type Socket } from 'node:dgram'
import { onTestFinished } from 'vitest'

/** Addresses with a TTL, by type. A type that is missing has no records; a name that is missing does not exist. */
export type Zone = Record<
  string,
  { A?: [address: string, ttl: number][]; AAAA?: [address: string, ttl: number][] }
>

/** Starts it; `zone` may change while it runs. Gives `127.0.0.1:port`. */
export async function nameServer(zone: Zone): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = []
  const socket: Socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    const kind = type === 1 ? 'A' : type === 28 ? 'AAAA' : null
    asked.push(`${kind} ${name}`)
    const known = zone[name]
    const records = (kind && known?.[kind]) ?? []
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | (known ? 0 : 3), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    const answers = records.map(([address, ttl]) => {
      const data = kind === 'A' ? Buffer.from(address.split('.').map(Number)) : ipv6(address)
      const answer = Buffer.alloc(12)
      answer.writeUInt16BE(0xc00c, 0)
      answer.writeUInt16BE(type, 2)
      answer.writeUInt16BE(1, 4)
      answer.writeUInt32BE(ttl, 6)
      answer.writeUInt16BE(data.length, 10)
      return Buffer.concat([answer, data])
    })
    socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), from.port, from.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  onTestFinished(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Eight groups, none left out. */
function ipv6(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  for (const [at, group] of address.split(':').entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * at)
  return bytes
}
