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

export { mutate, splitRecords } from '../../../../bench/lib/mutate.mjs'
