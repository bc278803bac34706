/** ClientHellos for tests. */

/** Lists of Chromium 143, with GREASE; the names and values are those that browserleaks.com tells. */
export function chromeHello(serverName = 'a.example'): Buffer {
  const u16 = (value: number): number[] => [value >> 8, value & 0xff]
  const list16 = (values: number[]): number[] => u16(values.length).concat(values)
  const numbers = (text: string): number[] => text.split(',').flatMap(one => u16(Number.parseInt(one, 16)))
  const name = [...Buffer.from(serverName)]
  const bodies: Record<number, number[]> = {
    2570: [],
    0: list16([0, ...list16(name)]),
    10: list16(numbers('1a1a,11ec,001d,0017,0018')),
    11: [1, 0],
    13: list16(numbers('0403,0804,0401,0503,0805,0501,0806,0601')),
    16: list16([2, ...Buffer.from('h2'), 8, ...Buffer.from('http/1.1')]),
    43: [6, ...numbers('2a2a,0304,0303')],
    45: [1, 1],
    51: list16([...u16(0x001d), ...list16(new Array<number>(32).fill(9))]),
    65037: [
      0,
      0,
      1,
      0,
      1,
      7,
      ...list16(new Array<number>(32).fill(8)),
      ...list16(new Array<number>(144).fill(6)),
    ],
    14906: [0],
  }
  const order = '0a0a,002d,0033,0010,fe0d,0017,44cd,0000,000b,000a,002b,ff01,0023,0012,0005,000d,001b,3a3a'
  const extensions = order.split(',').flatMap(text => {
    const type = Number.parseInt(text, 16)
    return [...u16(type), ...list16(bodies[type] ?? [])]
  })
  const ciphers = numbers('4a4a,1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035')
  const body = [
    ...[3, 3],
    ...new Array<number>(32).fill(5),
    ...[32, ...new Array<number>(32).fill(4)],
    ...list16(ciphers),
    ...[1, 0],
    ...list16(extensions),
  ]
  return Buffer.from([22, 3, 1, ...u16(body.length + 4), 1, 0, ...u16(body.length), ...body])
}

/** The same message in records of `size` bytes. */
export function splitRecords(whole: Buffer, size: number): Buffer {
  const message = whole.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 0xff]), piece)
  }
  return Buffer.concat(records)
}

/** A hello with something wrong, the same for the same seed: bytes changed, cut, doubled, lengths blown up, records split. */
export function mutate(whole: Buffer, seed: number): Buffer {
  let state = (seed + 1) * 2_654_435_761
  const random = (below: number): number => {
    // Xorshift: the same on every machine.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  let bytes = Buffer.from(whole)
  for (let step = random(4); step >= 0; step--) {
    const at = random(bytes.length || 1)
    switch (random(8)) {
      case 0:
        bytes[at] = random(256)
        break
      case 1:
        bytes[at] = bytes[at]! ^ (1 << random(8))
        break
      case 2:
        bytes = bytes.subarray(0, at)
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(40))])
        break
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 30))])
        break
      case 5:
        if (bytes.length > 60) bytes.writeUInt16BE(random(65_536), random(bytes.length - 2))
        break
      case 6:
        if (bytes.length > 5) bytes = splitRecords(bytes, 1 + random(64))
        break
      default:
        // A length of the first headers: record, message, session id, ciphers.
        bytes[[3, 4, 6, 7, 8, 43, 76, 77][random(8)]!] = random(256)
    }
  }
  return bytes
}
