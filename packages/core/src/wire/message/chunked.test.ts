import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteWriter, lastChunk, writeChunk } from './chunk-writer.ts'
import { ChunkedDecoder, DATA, END } from './chunked.ts'
import { BAD, MORE } from './field-lines.ts'

interface Read {
  what: number
  body: string
  trailers: string[]
  /** Bytes read. */
  at: number
}

/** Reads a text that is cut at these places. */
function read(text: string, cuts: readonly number[] = [], decoder = new ChunkedDecoder()): Read {
  decoder.reset()
  const all = Buffer.from(text, 'latin1')
  const places = [...cuts.map(cut => cut % (all.length + 1)), all.length].sort((a, b) => a - b)
  let body = ''
  let at = 0
  for (const to of places) {
    const piece = Buffer.from(all.subarray(at, to))
    const begin = at
    for (;;) {
      const what = decoder.next(piece, at - begin, piece.length)
      at = begin + decoder.at
      if (what === DATA) body += piece.toString('latin1', decoder.dataFrom, decoder.dataTo)
      else if (what === MORE) break
      else return { what, body, trailers: decoder.trailers, at }
    }
  }
  return { what: MORE, body, trailers: [], at }
}

class Written implements ByteWriter {
  text = ''
  cork(): void {}
  uncork(): void {}
  write(data: Uint8Array | string): boolean {
    this.text += typeof data === 'string' ? data : Buffer.from(data).toString('latin1')
    return true
  }
}

const pieces = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 40 }), { maxLength: 8 })
const trailer = fc.array(fc.constantFrom('A: 1', 'B:', 'sum:  x y '), { maxLength: 3 })

it('reads what the writer writes, cut anywhere, and stops at its end', () => {
  const decoder = new ChunkedDecoder()
  fc.assert(
    fc.property(pieces, fc.array(fc.nat()), fc.string(), fc.boolean(), (chunks, cuts, behind, trailers) => {
      const writer = new Written()
      for (const chunk of chunks) writeChunk(writer, Buffer.from(chunk, 'latin1'))
      const fields = trailers ? ['Sum', '12', 'sum', ''] : []
      const text = writer.text + lastChunk(fields)
      expect(read(text + behind, cuts, decoder)).toEqual({
        what: END,
        body: chunks.join(''),
        trailers: fields,
        at: text.length,
      })
      expect(read(text.slice(0, -1), cuts, decoder).what).toBe(MORE)
    }),
  )
})

it('any legal coding is read the same, whole and cut anywhere', () => {
  const extension = fc.constantFrom('', ';a', ';a=b', ';a="q\\"\t;x"', ';a;b=c', ';a=""')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: 'binary-ascii', minLength: 1 }), extension, fc.nat(3))),
      trailer,
      fc.array(fc.nat()),
      (chunks, lines, cuts) => {
        const coded = chunks.map(
          ([data, ext, zeros]) => `${'0'.repeat(zeros)}${data.length.toString(16)}${ext}\r\n${data}\r\n`,
        )
        const text = `${coded.join('')}0\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
        const whole = read(text)
        expect(whole).toMatchObject({
          what: END,
          at: text.length,
          body: chunks.map(([data]) => data).join(''),
        })
        expect(read(text, cuts)).toEqual(whole)
      },
    ),
  )
})

it('bytes of any kind are read the same, whole and cut anywhere', () => {
  const part = fc.constantFrom('1', '0', 'a', '\r\n', '\r', '\n', ';', '=', '"', ' ', ':', 'x', '\0', '\x85')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat()), (parts, cuts) => {
      const text = parts.join('')
      const { what, body, trailers } = read(text)
      expect(read(text, cuts)).toMatchObject({ what, body, trailers })
    }),
    { numRuns: 2000 },
  )
})

describe('refuses', () => {
  it.each([
    ['no size', '\r\n'],
    ['a sign', '+1\r\na\r\n'],
    ['0x', '0x1\r\na\r\n'],
    ['a space before the size', ' 1\r\na\r\n'],
    ['a space behind the size', '1 \r\na\r\n'],
    ['a tab behind the size', '1\t\r\na\r\n'],
    ['LF behind the size', '1\na\r\n'],
    ['CR behind the size', '1\ra\r\n'],
    ['LF behind an extension', '1;a\na\r\n'],
    ['CR inside an extension', '1;a\rb\r\na\r\n'],
    ['LF inside a quoted extension', '1;a="\n"\r\na\r\n'],
    ['an empty extension', '1;\r\na\r\n'],
    ['an extension without a value', '1;a=\r\na\r\n'],
    ['spaces in an extension', '1; a\r\na\r\n'],
    ['an open quote', '1;a="b\r\na\r\n'],
    ['bytes behind a quote', '1;a="b"c\r\na\r\n'],
    ['NUL in an extension', '1;a\0\r\na\r\n'],
    ['0x85 in an extension', '1;a\x85\r\na\r\n'],
    ['more data than its size', '1\r\nab\r\n'],
    ['LF behind data', '1\r\na\n0\r\n\r\n'],
    ['CR alone behind data', '1\r\na\r0\r\n\r\n'],
    ['a size beyond all numbers', 'ffffffffffffffff\r\n'],
    ['a size above 2^53', '20000000000000\r\n'],
    ['17 digits', '00000000000000001\r\na\r\n'],
    ['a LF behind the last size', '0\n\r\n'],
    ['a bare LF as the last line', '0\r\n\n'],
    ['a folded trailer', '0\r\na: b\r\n c\r\n\r\n'],
    ['a length as a trailer', '0\r\nContent-Length: 5\r\n\r\n'],
    ['a coding as a trailer', '0\r\nA: b\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['a trailer without a name', '0\r\n: b\r\n\r\n'],
    ['bytes instead of the last line', '0\r\nGET / HTTP/1.1\r\n\r\n'],
  ])('%s', (_, text) => {
    for (let cut = 0; cut <= text.length; cut++) expect(read(text, [cut]).what).toBe(BAD)
  })

  it('what has no bounds: extensions, trailers, lines of them', () => {
    const extensions = (bytes: number): string => `1;${'a'.repeat(bytes)}\r\na\r\n`
    expect(read(extensions(16_000)).what).toBe(MORE)
    expect(read(extensions(17_000)).what).toBe(BAD)
    expect(read(extensions(1000).repeat(17)).what).toBe(BAD)
    for (const cuts of [[], [5], [20_000]]) {
      expect(read(`0\r\na: ${'b'.repeat(17_000)}\r\n\r\n`, cuts).what).toBe(BAD)
      expect(read(`0\r\na: ${'b'.repeat(17_000)}`, cuts).what).toBe(BAD)
      expect(read(`0\r\n${'a: b\r\n'.repeat(129)}\r\n`, cuts).what).toBe(BAD)
      expect(read(`0\r\n${'a: b\r\n'.repeat(128)}\r\n`, cuts).what).toBe(END)
    }
  })
})

it('a chunk of 2^53 - 1 bytes is one, and its data passes', () => {
  expect(read('1fffffffffffff\r\nabc')).toMatchObject({ what: MORE, body: 'abc' })
})

it('the writer leaves out trailer lines that could not be read', () => {
  expect(lastChunk(['a', 'b\r\nc: d', 'b c', 'd', 'e', 'f'])).toBe('0\r\ne: f\r\n\r\n')
})
