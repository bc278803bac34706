import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Sink } from '../pipeline/contract.ts'
import { readSource } from '../testing/source.ts'
import { KeptBody } from './kept.ts'

function collector(readsOnly?: boolean): Sink & { chunks: Uint8Array[]; ends: number } {
  const sink = {
    chunks: [] as Uint8Array[],
    ends: 0,
    write: (bytes: Uint8Array) => sink.chunks.push(bytes) > 0,
    end: () => void sink.ends++,
    fail() {},
  }
  return readsOnly === undefined ? sink : { ...sink, readsOnly, end: () => void sink.ends++ }
}

test('as text or as bytes, it is the same body, as often as it is started', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async bytes => {
      for (const kept of [
        new KeptBody(Uint8Array.from(bytes)),
        new KeptBody(Buffer.from(bytes).toString('latin1')),
      ]) {
        expect(kept.length).toBe(bytes.length)
        expect([...kept.bytes]).toEqual([...bytes])
        expect(Buffer.from(kept.text, 'latin1')).toEqual(Buffer.from(bytes))
        for (let i = 0; i < 2; i++) expect([...(await readSource(kept)).bytes]).toEqual([...bytes])
      }
    }),
  )
})

test('whoever may edit what he gets has bytes of his own; who only reads shares them', () => {
  const bytes = Buffer.from('kept')
  const kept = new KeptBody(bytes)
  for (const careless of [collector(), collector(false)]) {
    kept.start(careless)
    careless.chunks[0]!.fill(0x78)
    expect(kept.bytes.toString()).toBe('kept')
  }
  const reader = collector(true)
  kept.start(reader)
  expect(reader.chunks[0]).toBe(bytes)
})

test('an empty body ends without a chunk', () => {
  const sink = collector()
  new KeptBody('').start(sink)
  expect([sink.chunks.length, sink.ends]).toEqual([0, 1])
})
