import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeaderList } from '../headers/list.ts'
import type { BodyTransform, Sink, Source } from '../pipeline/contract.ts'
import { bytesSource, readSource } from '../testing/source.ts'
import { isSource, sourceOf, transformSource } from './transform.ts'

const pass: BodyTransform = {
  chunk: (bytes, out) => void out.write(bytes),
  end: (out, trailers) => out.end(trailers),
}

test.each([
  [null, false],
  [new Uint8Array(1), false],
  [Buffer.from('a'), false],
  [sourceOf(new Uint8Array(1)), true],
  [{ protocol: 'x', splice: () => ({ pause() {}, resume() {}, cancel() {} }) }, false],
])('%s is a source: %s', (body, expected) => {
  expect(isSource(body)).toBe(expected)
})

test.each([0, 1, 70_000])('a source of %i known bytes', async size => {
  const source = sourceOf(new Uint8Array(size))
  expect(source.length).toBe(size)
  expect((await readSource(source)).bytes).toHaveLength(size)
})

describe('transformSource', () => {
  test('with no change gives the same bytes and trailers, and no length', async () => {
    const trailers = HeaderList.from({ Sum: '1' })
    const source: Source = {
      length: 3,
      start: sink => {
        sink.write(Buffer.from('abc'))
        sink.end(trailers)
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    const made = transformSource(source, pass)
    expect(made.length).toBeNull()
    const got = await readSource(made)
    expect([String(got.bytes), got.trailers]).toEqual(['abc', trailers])
  })

  test('gives what the transform makes of any chunks', async () => {
    const shift = (bytes: Uint8Array): Uint8Array => bytes.map(byte => byte ^ 0x20)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 8 }),
        fc.nat(3),
        async (chunks, split) => {
          const sum = { count: 0 }
          const made = transformSource(bytesSource(...chunks), {
            chunk(bytes, out) {
              sum.count += bytes.length
              out.write(shift(bytes.subarray(0, split)))
              out.write(shift(bytes.subarray(split)))
            },
            end(out) {
              out.write(Buffer.from([sum.count]))
              out.end()
            },
          })
          const whole = Buffer.concat(chunks)
          expect((await readSource(made)).bytes).toEqual(Buffer.from([...shift(whole), whole.length]))
        },
      ),
    )
  })

  test.each([
    [[true], true],
    [[false], false],
    [[true, false], false],
    [[], true],
  ])('a sink that says %j to what comes out makes it say %s to what comes in', (answers, expected) => {
    let next = 0
    let inside: Sink | undefined
    const source: Source = {
      length: null,
      start: sink => {
        inside = sink
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    const transform: BodyTransform = {
      ...pass,
      chunk: (bytes, out) => answers.forEach(() => void out.write(bytes)),
    }
    transformSource(source, transform).start({ write: () => answers[next++]!, end() {}, fail() {} })
    expect(inside!.write(new Uint8Array(1))).toBe(expected)
  })

  test('after a throw nothing more comes out: one failure, no end', () => {
    const log: string[] = []
    let inside: Sink | undefined
    const source: Source = {
      length: null,
      start: sink => {
        inside = sink
        return { pause() {}, resume() {}, cancel() {} }
      },
    }
    const boom = (): never => {
      throw new Error('bug')
    }
    transformSource(source, { ...pass, chunk: boom }).start({
      write: () => log.push('write') > 0,
      end: () => void log.push('end'),
      fail: error => void log.push(`${error.phase} ${error.code}`),
    })
    inside!.write(new Uint8Array(1))
    inside!.write(new Uint8Array(1))
    inside!.end()
    expect(log).toEqual(['reply-body internal'])
  })
})
