import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameTracker, GOING_AWAY, GOING_AWAY_MASKED } from './frames.ts'

function frame(opcode: number, length: number, masked: boolean): Uint8Array {
  const bit = masked ? 128 : 0
  const head =
    length < 126
      ? [128 | opcode, bit | length]
      : length < 65_536
        ? [128 | opcode, bit | 126, length >> 8, length & 255]
        : [128 | opcode, bit | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255]
  // Payload that looks like heads of frames.
  return Uint8Array.from([...head, ...(masked ? [1, 2, 3, 4] : []), ...new Array(length).fill(0x88)])
}

test('however the bytes are cut, only the ends of frames are between frames', () => {
  const frames = fc.array(
    fc.tuple(
      fc.constantFrom(0, 1, 2, 9, 10),
      fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536),
      fc.boolean(),
    ),
    { minLength: 1, maxLength: 5 },
  )
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 70_000 })), (list, cuts) => {
      const parts = list.map(([opcode, length, masked]) => frame(opcode, length, masked))
      const ends = new Set([0])
      let total = 0
      for (const part of parts) ends.add((total += part.length))
      const bytes = new Uint8Array(Buffer.concat(parts))
      const tracker = new FrameTracker()
      let at = 0
      for (const cut of cuts) {
        tracker.feed(bytes.subarray(at, at + cut))
        at = Math.min(bytes.length, at + cut)
        expect(tracker.between).toBe(ends.has(at))
        if (at === bytes.length) break
      }
      expect(tracker.closing).toBe(false)
    }),
    { numRuns: 50 },
  )
})

test.each([GOING_AWAY, GOING_AWAY_MASKED])('a close frame is one frame, and the last', bytes => {
  const tracker = new FrameTracker()
  tracker.feed(bytes)
  expect([tracker.between, tracker.closing]).toEqual([true, true])
})
