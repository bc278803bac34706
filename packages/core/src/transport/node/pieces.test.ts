import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Flow } from '../../pipeline/contract.ts'
import { piecesOf } from './pieces.ts'

test('the same bytes, in pieces, whatever the reader does; silent while it rests', () => {
  fc.assert(
    fc.property(
      fc.nat(400_000),
      fc.array(fc.boolean(), { maxLength: 8 }),
      fc.nat(12),
      (size, takes, stopAt) => {
        const bytes = Buffer.alloc(size, 7)
        const pieces: number[] = []
        let resting = false
        let ends = 0
        const source = piecesOf(bytes)
        expect(source.length).toBe(size)
        const flow: Flow = source.start({
          write(piece) {
            expect(resting).toBe(false)
            pieces.push(piece.length)
            resting = takes[pieces.length % Math.max(1, takes.length)] === false
            return !resting
          },
          end: () => void ends++,
          fail: () => expect.unreachable(),
        })
        for (let i = 0; i < 20 && ends === 0; i++) {
          if (i === stopAt) {
            flow.cancel(null as never)
            const before = pieces.length
            flow.resume()
            expect([pieces.length, ends]).toEqual([before, 0])
            return
          }
          resting = false
          flow.resume()
        }
        expect([ends, pieces.reduce((sum, one) => sum + one, 0)]).toEqual([1, size])
        for (const piece of pieces) expect(piece).toBeLessThanOrEqual(65_536)
      },
    ),
  )
})
