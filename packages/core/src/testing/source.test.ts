import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import type { Flow } from '../pipeline/contract.ts'
import { bytesSource, readSource } from './source.ts'

const gone = new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' })

test('gives its chunks in order, then ends', async () => {
  const { bytes, trailers } = await readSource(bytesSource('one ', new Uint8Array([0x32]), ' three'))
  expect(Buffer.from(bytes).toString()).toBe('one 2 three')
  expect(trailers).toBeNull()
})

test('starts once', () => {
  const source = bytesSource()
  source.start({ write: () => true, end() {}, fail() {} })
  expect(() => source.start({ write: () => true, end() {}, fail() {} })).toThrow('once')
})

test('waits while the sink is full or the flow is paused', async () => {
  const seen: string[] = []
  const flow: Flow = bytesSource('a', 'b', 'c').start({
    write(bytes) {
      seen.push(Buffer.from(bytes).toString())
      if (seen.length === 2) flow.pause()
      return seen.length !== 1
    },
    end: () => void seen.push('end'),
    fail: () => void seen.push('fail'),
  })
  await turns(4)
  expect(seen).toEqual(['a'])
  flow.resume()
  await turns(4)
  expect(seen).toEqual(['a', 'b'])
  flow.resume()
  await turns(4)
  expect(seen).toEqual(['a', 'b', 'c', 'end'])
})

test('says nothing more once cancelled', async () => {
  const seen: string[] = []
  const flow: Flow = bytesSource('a', 'b').start({
    write(bytes) {
      seen.push(Buffer.from(bytes).toString())
      flow.cancel(gone)
      return true
    },
    end: () => void seen.push('end'),
    fail: () => void seen.push('fail'),
  })
  await turns(4)
  expect(seen).toEqual(['a'])
})

test('rejects when the source breaks', async () => {
  const broken = {
    length: null,
    start: (sink: { fail(error: ProxyError): void }) => {
      sink.fail(gone)
      return { pause() {}, resume() {}, cancel() {} }
    },
  }
  await expect(readSource(broken)).rejects.toBe(gone)
})

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}
