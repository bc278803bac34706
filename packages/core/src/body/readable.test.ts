import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProxyError } from '../errors.ts'
import type { Flow, Sink, Source } from '../pipeline/contract.ts'
import { bytesSource } from '../testing/source.ts'
import { toReadable } from './readable.ts'
import { sourceOf } from './transform.ts'

const failure = new ProxyError({ source: 'client', phase: 'request-body', code: 'client-closed' })

/** A source in the hands of the test. */
function manual(): Source & { sink?: Sink; log: string[]; cancelled?: ProxyError } {
  const log: string[] = []
  const flow: Flow = {
    pause: () => void log.push('pause'),
    resume: () => void log.push('resume'),
    cancel: error => {
      log.push('cancel')
      made.cancelled = error
    },
  }
  const made: ReturnType<typeof manual> = {
    length: null,
    log,
    start(sink) {
      made.sink = sink
      log.push('start')
      return flow
    },
  }
  return made
}

test('gives all bytes, whatever the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000 }), { maxLength: 6 }),
      async chunks => {
        const got: Buffer[] = []
        for await (const chunk of toReadable(bytesSource(...chunks))) {
          got.push(chunk)
          if (got.length % 2 === 0) await new Promise(setImmediate)
        }
        expect(Buffer.concat(got).equals(Buffer.concat(chunks))).toBe(true)
      },
    ),
    { numRuns: 50 },
  )
})

test.each([0, 1, 100_000])('gives %i bytes that are there at once', async size => {
  const chunks = await toReadable(sourceOf(new Uint8Array(size))).toArray()
  expect(Buffer.concat(chunks)).toHaveLength(size)
})

test('starts nothing before somebody reads', async () => {
  const source = manual()
  const stream = toReadable(source)
  await new Promise(setImmediate)
  expect(source.log).toEqual([])
  stream.read()
  expect(source.log).toEqual(['start'])
})

test('says no when the buffer is full, and resumes when it is read', async () => {
  const source = manual()
  const stream = toReadable(source)
  stream.read()
  expect(source.sink!.write(new Uint8Array(1 << 20))).toBe(false)
  expect(source.log).not.toContain('resume')
  stream.read()
  await new Promise(setImmediate)
  expect(source.log).toContain('resume')
})

test('a body that breaks is an error of the stream, never an end', async () => {
  const source = manual()
  const stream = toReadable(source)
  stream.read()
  source.sink!.write(new Uint8Array(1))
  source.sink!.fail(failure)
  await expect(stream.toArray()).rejects.toBe(failure)
  expect(source.cancelled).toBeUndefined()
})

test.each([
  ['an error of the proxy', failure, (error: ProxyError) => error === failure],
  [
    'another error',
    new Error('x'),
    (error: ProxyError) => error.code === 'upstream-reset' && (error.cause as Error).message === 'x',
  ],
  ['no error', undefined, (error: ProxyError) => error.code === 'upstream-reset'],
])('destroyed with %s, it cancels the source with a ProxyError, once', async (_, error, fits) => {
  const source = manual()
  const stream = toReadable(source)
  stream.on('error', () => {})
  stream.read()
  stream.destroy(error)
  stream.destroy()
  await new Promise(setImmediate)
  expect(source.log.filter(entry => entry === 'cancel')).toHaveLength(1)
  expect(source.cancelled).toSatisfy(fits)
  expect(source.sink!.write(new Uint8Array(1))).toBe(false)
  source.sink!.fail(failure)
})
