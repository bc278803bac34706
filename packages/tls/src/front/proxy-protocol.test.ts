import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readProxyHeader } from './proxy-protocol.ts'

const SIGNATURE = '0d0a0d0a000d0a515549540a'
const v2 = (hex: string): Buffer => Buffer.from(SIGNATURE + hex.replaceAll(' ', ''), 'hex')
const text = (line: string): Buffer => Buffer.from(line, 'latin1')
const at = (remoteAddress: string, remotePort: number, localAddress: string, localPort: number) => ({
  remoteAddress,
  remotePort,
  localAddress,
  localPort,
})

describe('headers that are taken', () => {
  const cases: [what: string, bytes: Buffer, addresses: object | null][] = [
    [
      'v1 TCP4',
      text('PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n'),
      at('192.0.2.1', 56_324, '198.51.100.7', 443),
    ],
    ['v1 TCP6', text('PROXY TCP6 2001:db8::1 ::1 1 65535\r\n'), at('2001:db8::1', 1, '::1', 65_535)],
    ['v1 UNKNOWN', text('PROXY UNKNOWN\r\n'), null],
    ['v1 UNKNOWN with more', text('PROXY UNKNOWN ffff:f...f:ffff 1 2\r\n'), null],
    ['v2 TCP4', v2('21 11 000c c0000201 c6336407 dc04 01bb'), at('192.0.2.1', 56_324, '198.51.100.7', 443)],
    [
      'v2 TCP6 with a TLV',
      v2('21 21 0028 20010db8000000000000000000000001 00000000000000000000000000000001 0001 ffff 04 0001 00'),
      at('2001:0db8:0000:0000:0000:0000:0000:0001', 1, '0000:0000:0000:0000:0000:0000:0000:0001', 65_535),
    ],
    ['v2 LOCAL', v2('20 00 0000'), null],
    ['v2 LOCAL with addresses', v2('20 11 000c c0000201 c6336407 dc04 01bb'), null],
    ['v2 UNSPEC', v2('21 00 0003 010203'), null],
  ]
  test.each(cases)('%s', (_what, bytes, addresses) => {
    expect(readProxyHeader(bytes)).toEqual({ length: bytes.length, addresses })
    expect(readProxyHeader(Buffer.concat([bytes, text('\x16\x03')]))).toEqual({
      length: bytes.length,
      addresses,
    })
    for (let length = 1; length < bytes.length; length++)
      expect(readProxyHeader(bytes.subarray(0, length))).toBe('more')
  })
})

describe('headers that are refused', () => {
  const cases: [what: string, bytes: Buffer][] = [
    ['none', text('GET / HTTP/1.1\r\n')],
    ['TLS', text('\x16\x03\x01')],
    ['another word', text('PROXIE TCP4')],
    ['lower case', text('proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n')],
    ['a wrong family', text('PROXY TCP4 ::1 ::1 1 1\r\n')],
    ['UDP', text('PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n')],
    ['two spaces', text('PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n')],
    ['a missing port', text('PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n')],
    ['one thing too many', text('PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n')],
    ['a port above the range', text('PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n')],
    ['a port with a leading zero', text('PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n')],
    ['a signed port', text('PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n')],
    ['an octal address', text('PROXY TCP4 01.2.3.4 1.2.3.4 1 1\r\n')],
    ['a zone', text('PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n')],
    ['a bare LF at the limit', text(`PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n${'x'.repeat(100)}`)],
    ['a line without end', text(`PROXY UNKNOWN ${'x'.repeat(120)}`)],
    ['v2 of another version', v2('11 11 000c c0000201 c6336407 dc04 01bb')],
    ['v2 with another command', v2('22 11 000c c0000201 c6336407 dc04 01bb')],
    ['v2 over UDP', v2('21 12 000c c0000201 c6336407 dc04 01bb')],
    ['v2 with a short block', v2('21 11 0008 c0000201 c6336407')],
    ['v2 with a block of 64 KB', v2('21 11 ffff')],
  ]
  test.each(cases)('%s', (_what, bytes) => expect(readProxyHeader(bytes)).toBe('invalid'))
})

test('any bytes: no exception, and never longer than what is there', () => {
  const start = fc.constantFrom(
    '',
    'PROXY TCP4 ',
    'PROXY TCP6 ',
    Buffer.from(SIGNATURE, 'hex').toString('latin1'),
  )
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
      const bytes = Buffer.concat([text(head), tail])
      const header = readProxyHeader(bytes)
      if (typeof header !== 'string') expect(header.length).toBeLessThanOrEqual(bytes.length)
    }),
    { numRuns: 2000 },
  )
})
