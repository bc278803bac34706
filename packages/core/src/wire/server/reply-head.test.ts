import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../../headers/list.ts'
import { PreparedLines } from '../../headers/prepared.ts'
import { interimHead, NO_BODY, PUSHED, ReplyHeadWriter } from './reply-head.ts'

const KEPT = '\r\nConnection: keep-alive'
const heads = new ReplyHeadWriter()

function write(status: number, raw: string[], closing = false, body: number = NO_BODY): string[] {
  heads.write(status, raw, closing, body, KEPT)
  expect(heads.text.endsWith('\r\n\r\n')).toBe(true)
  return heads.text.slice(0, -4).split('\r\n')
}

describe('a head', () => {
  it('has the fields as they are, a date, and how long the connection lasts', () => {
    const [first, ...lines] = write(200, ['X-a', '1', 'x-A', '2'])
    expect(first).toBe('HTTP/1.1 200 OK')
    expect(lines.slice(0, 2)).toEqual(['X-a: 1', 'x-A: 2'])
    expect(lines[2]).toMatch(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
    expect(lines.slice(3)).toEqual(['Connection: keep-alive'])
  })

  it('keeps a date that is given', () => {
    expect(write(200, ['date', 'x']).filter(line => /^date/i.test(line))).toEqual(['date: x'])
  })

  it.each([
    [PUSHED, [], 'Transfer-Encoding: chunked'],
    [5, [], 'Content-Length: 5'],
    [0, [], 'Content-Length: 0'],
    [PUSHED, ['Content-Length', '7'], 'Content-Length: 7'],
  ] as const)('frames a body once (%s, %j)', (body, raw, line) => {
    const framing = write(200, [...raw], false, body).filter(one => /^(?:content-length|transfer)/i.test(one))
    expect(framing).toEqual([line])
    expect(heads.chunked).toBe(line.startsWith('Transfer'))
  })

  it('has no fields of the connection but its own', () => {
    const raw = ['Connection', 'x', 'Keep-Alive', '1', 'Transfer-Encoding', 'gzip', 'Upgrade', 'x', 'TE', 'x']
    expect(write(200, raw).slice(2)).toEqual(['Connection: keep-alive'])
    expect(write(200, ['Connection', 'x, Close']).at(-1)).toBe('Connection: close')
    expect(heads.closing).toBe(true)
    expect(write(426, ['Upgrade', 'x']).slice(1)).toContain('Upgrade: x')
    expect(write(426, ['Upgrade', 'x'], true).at(-1)).toBe('Connection: close, Upgrade')
  })

  it.each([
    ['a b', 'x'],
    ['', 'x'],
    ['X', 'a\r\nY: b'],
    ['X', 'a\0'],
    ['X', '\u0100'],
    ['X', 5 as unknown as string],
    [5 as unknown as string, 'x'],
  ])('%j: %j is refused', (name, value) => {
    expect(() => write(200, [name, value])).toThrow(TypeError)
  })
})

it('lines that were prepared give the same fields as those that were not, or are left to the plain way', () => {
  const name = fc.constantFrom('A', 'b', 'Date', 'Content-Length', 'ETag', 'Age', 'Connection')
  const value = fc.constantFrom('x', '5', 'y')
  const lines = fc.array(fc.tuple(name, value), { maxLength: 6 }).map(pairs => pairs.flat())
  let quick = 0
  fc.assert(
    fc.property(lines, lines, fc.boolean(), (begin, more, closing) => {
      const first = ['Content-Length', '5', ...begin]
      const prepared = PreparedLines.of(first)
      if (prepared === null) return
      const headers = new HeaderList([...first, ...more])
      if (!heads.writePrepared(200, headers, prepared, closing, 5, KEPT)) return
      quick++
      const sorted = heads.text.split('\r\n').sort()
      expect(heads.closing).toBe(closing)
      heads.write(200, headers.raw, closing, 5, KEPT)
      expect(sorted).toEqual(heads.text.split('\r\n').sort())
    }),
    { numRuns: 2000 },
  )
  expect(quick).toBeGreaterThan(50)
})

it('interim heads', () => {
  expect(interimHead(103, ['Link', '</a>'])).toBe('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
})
