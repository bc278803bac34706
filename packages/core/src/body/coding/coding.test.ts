import * as zlib from 'node:zlib'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../errors.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import { bytesSource, readSource } from '../../testing/source.ts'
import { CODINGS, codingsOf, hasZstd, LEVELS } from './codings.ts'
import { type DecodeBounds, decodeSource } from './decode.ts'
import { EncodedSource } from './encode.ts'

const BOUNDS: DecodeBounds = { maxBytes: 1 << 28, maxRatio: 1000 }
const TEXT = Buffer.from('postern '.repeat(20_000))
const zstdCompressSync = (zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer })
  .zstdCompressSync

const CODED: [string, 'br' | 'zstd' | 'gzip' | 'deflate', Buffer][] = [
  ['gzip', 'gzip', gzipSync(TEXT)],
  ['deflate in the zlib format', 'deflate', deflateSync(TEXT)],
  ['bare deflate', 'deflate', deflateRawSync(TEXT)],
  ['br', 'br', brotliCompressSync(TEXT)],
  ...(zstdCompressSync ? [['zstd', 'zstd', zstdCompressSync(TEXT)] as [string, 'zstd', Buffer]] : []),
]

/** What came out before it broke. */
function broken(source: Source): Promise<{ bytes: number; error: ProxyError }> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    source.start({
      write: chunk => {
        bytes += chunk.length
        return true
      },
      end: () => reject(new Error('it looked whole')),
      fail: error => resolve({ bytes, error }),
    })
  })
}

/** A source driven by hand. */
function byHand(): { source: Source; sink: () => Sink; log: string[] } {
  const log: string[] = []
  let sink: Sink | undefined
  const source: Source = {
    length: null,
    start: given => {
      sink = given
      return {
        pause: () => void log.push('pause'),
        resume: () => void log.push('resume'),
        cancel: error => void log.push(`cancel ${error.code}`),
      }
    },
  }
  return { source, sink: () => sink!, log }
}

const GONE = new ProxyError({ source: 'client', phase: 'reply-body', code: 'client-closed' })

test.runIf(hasZstd)('this Node has zstd', () => {
  expect(CODINGS).toEqual(['br', 'zstd', 'gzip', 'deflate'])
})
test.skipIf(hasZstd)('this Node has no zstd: it is unknown', () => {
  expect(CODINGS).toEqual(['br', 'gzip', 'deflate'])
  expect(codingsOf(HeaderList.from({ 'Content-Encoding': 'zstd' }))).toBeNull()
})

test.each([
  [[], []],
  [[''], []],
  [['identity'], []],
  [['gzip'], ['gzip']],
  [['X-GZIP'], ['gzip']],
  [['gzip, br'], ['gzip', 'br']],
  [
    ['gzip', 'identity, BR ,'],
    ['gzip', 'br'],
  ],
  [['compress'], null],
  [['gzip, frob'], null],
  [['gzip;q=1'], null],
  [['gzip,gzip,gzip'], ['gzip', 'gzip', 'gzip']],
  [['gzip,gzip,gzip,gzip'], null],
])('Content-Encoding %j is %j', (values, expected) => {
  expect(codingsOf(HeaderList.from({ 'Content-Encoding': values }))).toEqual(expected)
})

describe('decodeSource', () => {
  test.each(CODED)('%s in any chunks', async (_, coding, bytes) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 6 }),
        async cuts => {
          const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
          const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
          const got = await readSource(decodeSource(bytesSource(...chunks), [coding], BOUNDS))
          expect(Buffer.compare(Buffer.from(got.bytes), TEXT)).toBe(0)
        },
      ),
      { numRuns: 20 },
    )
  })

  test.each(CODED)('%s, a byte a chunk', async (_, coding, bytes) => {
    const chunks = [...bytes].map(byte => Buffer.of(byte))
    const got = await readSource(decodeSource(bytesSource(...chunks), [coding], BOUNDS))
    expect(Buffer.compare(Buffer.from(got.bytes), TEXT)).toBe(0)
  })

  test.each(CODED)('%s that is cut breaks, wherever', async (name, coding, bytes) => {
    for (const end of [1, 2, 5, bytes.length >> 1, bytes.length - 1]) {
      const { error } = await broken(decodeSource(bytesSource(bytes.subarray(0, end)), [coding], BOUNDS))
      expect(error.code, `${name} at ${end}`).toBe('bad-reply')
    }
  })

  test.each(CODED)('%s with something behind it breaks', async (_, coding, bytes) => {
    for (const chunks of [[bytes, Buffer.from('more')], [Buffer.concat([bytes, Buffer.from('more')])]]) {
      expect((await broken(decodeSource(bytesSource(...chunks), [coding], BOUNDS))).error.code).toBe(
        'bad-reply',
      )
    }
  })

  test.each(CODED.filter(([name]) => name !== 'bare deflate'))(
    '%s that is damaged breaks',
    async (_, coding, bytes) => {
      const bad = Buffer.from(bytes)
      bad.fill(0xff, 2, 9)
      expect((await broken(decodeSource(bytesSource(bad), [coding], BOUNDS))).error.code).toBe('bad-reply')
    },
  )

  test.each(CODINGS)('%s of nothing at all is nothing', async coding => {
    expect((await readSource(decodeSource(bytesSource(), [coding], BOUNDS))).bytes).toHaveLength(0)
  })

  test('gzip of two members is both', async () => {
    const two = Buffer.concat([gzipSync('one '), gzipSync('two')])
    const got = await readSource(decodeSource(bytesSource(two), ['gzip'], BOUNDS))
    expect(String(got.bytes)).toBe('one two')
  })

  test('codings on top of one another come off in reverse', async () => {
    const bytes = brotliCompressSync(gzipSync(TEXT))
    const got = await readSource(decodeSource(bytesSource(bytes), ['gzip', 'br'], BOUNDS))
    expect(Buffer.compare(Buffer.from(got.bytes), TEXT)).toBe(0)
  })

  test('a bomb breaks at its bounds', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20))
    const byBytes = await broken(
      decodeSource(bytesSource(bomb), ['gzip'], { maxBytes: 2 << 20, maxRatio: 5000 }),
    )
    expect(byBytes.bytes).toBeLessThanOrEqual(2 << 20)
    const byRatio = await broken(
      decodeSource(bytesSource(bomb), ['gzip'], { maxBytes: 1 << 30, maxRatio: 100 }),
    )
    expect(byRatio.bytes).toBeLessThanOrEqual(Math.max(1 << 20, bomb.length * 100))
    expect([byBytes.error.code, byRatio.error.code]).toEqual(['bad-reply', 'bad-reply'])
  })

  test('a source that breaks is told as it broke, without an end', async () => {
    const hand = byHand()
    const result = broken(decodeSource(hand.source, ['gzip'], BOUNDS))
    hand.sink().write(gzipSync(TEXT).subarray(0, 100))
    hand.sink().fail(GONE)
    expect((await result).error).toBe(GONE)
  })

  test('a reader that waits makes the source wait, and nothing is lost', async () => {
    const hand = byHand()
    const parts: Uint8Array[] = []
    let flow!: Flow
    const whole = new Promise<void>(resolve => {
      flow = decodeSource(hand.source, ['gzip'], BOUNDS).start({
        write: bytes => {
          parts.push(bytes)
          return false
        },
        end: () => resolve(),
        fail: error => expect.unreachable(error.code),
      })
    })
    const bytes = gzipSync(Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * i * 7919) >> 3)), {
      level: 0,
    })
    let at = 0
    let more = true
    while (more && at < bytes.length) {
      more = hand.sink().write(bytes.subarray(at, at + 8192))
      at += 8192
    }
    expect(more).toBe(false)
    expect(at).toBeLessThan(bytes.length)
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(parts).toHaveLength(1)
    // From now on it is read, a chunk a turn.
    const timer = setInterval(() => flow.resume(), 0)
    while (at < bytes.length) {
      if (hand.sink().write(bytes.subarray(at, at + 8192)))
        await new Promise(resolve => setImmediate(resolve))
      else {
        const before = hand.log.length
        while (hand.log.length === before) await new Promise(resolve => setImmediate(resolve))
      }
      at += 8192
    }
    hand.sink().end()
    await whole
    clearInterval(timer)
    expect(Buffer.concat(parts)).toHaveLength(400_000)
  })
})

describe('EncodedSource', () => {
  test.each(CODINGS.map(coding => [coding]))('%s: any chunks come back', async coding => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 8 }), async chunks => {
        const coded = new EncodedSource(bytesSource(...chunks), coding, LEVELS[coding])
        const got = await readSource(decodeSource(coded, [coding], BOUNDS))
        expect(Buffer.compare(Buffer.from(got.bytes), Buffer.concat(chunks))).toBe(0)
      }),
      { numRuns: 25 },
    )
  })

  test.each(CODINGS.map(coding => [coding]))(
    '%s: what has come can be read before there is more',
    async coding => {
      const hand = byHand()
      let text = ''
      const coded = new EncodedSource(hand.source, coding, LEVELS[coding])
      decodeSource(coded, [coding], BOUNDS).start({
        write: bytes => {
          text += String(Buffer.from(bytes))
          return true
        },
        end: () => {},
        fail: error => expect.unreachable(error.code),
      })
      for (const event of ['data: 1\n\n', 'data: two\n\n', 'data: 3\n\n']) {
        hand.sink().write(Buffer.from(event))
        for (let i = 0; i < 400 && !text.endsWith(event); i++)
          await new Promise(resolve => setTimeout(resolve, 5))
        expect(text.endsWith(event), event).toBe(true)
      }
      hand.sink().end()
    },
  )

  test.each(CODINGS.map(coding => [coding]))('%s: what flows is not flushed for nothing', async coding => {
    const chunks = Array.from({ length: 200 }, (_, i) =>
      `line ${i} of a text that comes again and again\n`.repeat(20),
    )
    const size = async (...parts: string[]): Promise<number> =>
      (await readSource(new EncodedSource(bytesSource(...parts), coding, LEVELS[coding]))).bytes.length
    expect(await size(...chunks)).toBeLessThan(1.1 * (await size(chunks.join(''))))
  })

  test('a reader that leaves ends both sides and gives the slot back, once', () => {
    for (const begun of [false, true]) {
      const hand = byHand()
      let freed = 0
      const flow = new EncodedSource(hand.source, 'gzip', 5, () => void freed++).start({
        write: () => true,
        end: () => expect.unreachable(),
        fail: () => expect.unreachable(),
      })
      if (begun) hand.sink().write(TEXT)
      flow.cancel(GONE)
      flow.cancel(GONE)
      expect([freed, hand.log]).toEqual([1, ['cancel client-closed']])
      expect(hand.sink().write(TEXT)).toBe(false)
      hand.sink().end()
    }
  })

  test('digests of the trailer section do not survive', async () => {
    const hand = byHand()
    const read = readSource(new EncodedSource(hand.source, 'gzip', 5))
    hand.sink().write(TEXT)
    hand.sink().end(HeaderList.from({ 'Content-Digest': 'sha-256=:x:', 'X-Sum': '1' }))
    expect((await read).trailers!.raw).toEqual(['X-Sum', '1'])
  })
})
