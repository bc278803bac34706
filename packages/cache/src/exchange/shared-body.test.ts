import { type Flow, ProxyError, type Sink } from '@postern/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BodyOwner, SharedBody, WINDOW } from './shared-body.ts'

const broke = new ProxyError({ source: 'upstream', phase: 'reply-body', code: 'upstream-reset' })
const bytes = (text: string): Uint8Array => Buffer.from(text)

function owner(room = Infinity, background = false) {
  const log: string[] = []
  let taken = 0
  const made: BodyOwner = {
    room(count) {
      taken += count
      return taken <= room
    },
    whole: body => void log.push(`whole ${Buffer.from(body)}`),
    lost: () => void log.push('lost'),
    deserted: () => background,
  }
  return { log, made }
}

/** A reader that says what it gets, and takes as long as `open` is true. */
class Sinking implements Sink {
  readonly got: string[] = []
  open = true
  flow: Flow | null = null
  write(chunk: Uint8Array): boolean {
    this.got.push(Buffer.from(chunk).toString())
    return this.open
  }
  end(): void {
    this.got.push('end')
  }
  fail(error: ProxyError): void {
    this.got.push(error.code)
  }
}

/** A source under the test's control. */
function origin() {
  const log: string[] = []
  const flow: Flow = {
    pause() {},
    resume: () => void log.push('resume'),
    cancel: error => void log.push(`cancel ${error.code}`),
  }
  return { log, source: { length: null, start: () => flow } }
}

test('all readers get all, whenever they come', () => {
  const { log, made } = owner()
  const body = new SharedBody(made, null)
  const early = new Sinking()
  body.reader().start(early)
  body.begin(origin().source)
  body.write(bytes('a'))
  const late = new Sinking()
  body.reader().start(late)
  body.write(bytes('b'))
  body.end()
  const last = new Sinking()
  body.reader().start(last)
  for (const one of [early, late, last]) expect(one.got).toEqual(['a', 'b', 'end'])
  expect(log).toEqual(['whole ab'])
})

test('what is in front and behind belongs to it', () => {
  const { log, made } = owner()
  const body = new SharedBody(made, 3, bytes('a'), bytes('c'))
  const sink = new Sinking()
  body.reader().start(sink)
  body.begin(origin().source)
  body.write(bytes('b'))
  body.end()
  expect(sink.got).toEqual(['a', 'b', 'c', 'end'])
  expect(log).toEqual(['whole abc'])
})

test.each([2, 4])('with another length than %i it is broken', length => {
  const { log, made } = owner()
  const body = new SharedBody(made, length)
  const sink = new Sinking()
  body.reader().start(sink)
  body.write(bytes('abc'))
  body.end()
  expect(sink.got).toEqual(['abc', 'bad-reply'])
  expect(log).toEqual(['lost'])
})

test('a failure reaches all, also those who are paused or come later', () => {
  const { log, made } = owner()
  const body = new SharedBody(made, null)
  const paused = new Sinking()
  paused.open = false
  body.reader().start(paused)
  body.write(bytes('a'))
  body.write(bytes('b'))
  const waiting = body.reader()
  body.fail(broke)
  const late = new Sinking()
  waiting.start(late)
  expect(paused.got).toEqual(['a', 'upstream-reset'])
  expect(late.got).toEqual(['a', 'b', 'upstream-reset'])
  expect(log).toEqual(['lost'])
  expect(body.joinable).toBe(false)
})

describe('when nobody is left', () => {
  test('the origin is told', () => {
    const { log, made } = owner()
    const { log: told, source } = origin()
    const body = new SharedBody(made, null)
    const flow = body.reader().start(new Sinking())
    body.begin(source)
    flow.cancel(broke)
    expect([log, told]).toEqual([['lost'], ['cancel client-closed']])
    body.write(bytes('a'))
    body.end()
    expect(log).toEqual(['lost'])
  })

  test('it goes on in the background, until it does not fit', () => {
    const { log, made } = owner(2, true)
    const { log: told, source } = origin()
    const body = new SharedBody(made, null)
    body.begin(source)
    expect(body.write(bytes('a'))).toBe(true)
    body.write(bytes('bcd'))
    expect([log, told]).toEqual([['lost'], ['cancel client-closed']])
  })
})

describe('a body that is not kept', () => {
  test('waits for the quickest, and cuts who is too slow', () => {
    const { made } = owner(0)
    const { log: told, source } = origin()
    const body = new SharedBody(made, null)
    const [quick, slow] = [new Sinking(), new Sinking()]
    slow.open = false
    const quickFlow = body.reader().start(quick)
    body.reader().start(slow)
    body.begin(source)
    const chunk = new Uint8Array(WINDOW / 4)
    for (let i = 0; i < 6; i++) expect(body.write(chunk)).toBe(true)
    expect(slow.got.at(-1)).toBe('idle-timeout')
    expect(body.joinable).toBe(false)
    quick.open = false
    body.write(chunk)
    expect(body.write(chunk)).toBe(false)
    quick.open = true
    quickFlow.resume()
    expect(told).toEqual(['resume'])
    body.end()
    expect(quick.got).toHaveLength(9)
  })
})

test('whatever the order of things, each reader gets a beginning of the body, and the whole if it ends', () => {
  const act = fc.oneof(
    fc.record({ what: fc.constantFrom('write', 'join', 'end', 'fail') }),
    fc.record({ what: fc.constantFrom('pause', 'open', 'leave'), who: fc.nat(5) }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), fc.boolean(), (acts, kept) => {
      const { log, made } = owner(kept ? Infinity : 3)
      const body = new SharedBody(made, null)
      body.begin(origin().source)
      const readers: Sinking[] = []
      const left = new Set<Sinking>()
      let text = ''
      let over = ''
      for (const one of acts) {
        const who = 'who' in one ? readers[one.who] : undefined
        if (one.what === 'write' && over === '') {
          const letter = String.fromCharCode(97 + (text.length % 26))
          text += letter
          body.write(bytes(letter))
        } else if (one.what === 'join' && body.joinable && readers.length < 6) {
          const sink = new Sinking()
          readers.push(sink)
          sink.flow = body.reader().start(sink)
        } else if (one.what === 'pause' && who) who.open = false
        else if (one.what === 'open' && who) {
          who.open = true
          who.flow!.resume()
        } else if (one.what === 'leave' && who) {
          left.add(who)
          who.flow!.cancel(broke)
        } else if (one.what === 'end' && over === '') {
          over = 'end'
          body.end()
        } else if (one.what === 'fail' && over === '') {
          over = 'upstream-reset'
          body.fail(broke)
        }
      }
      for (const sink of readers) {
        const ends = sink.got.filter(part => part.length > 1)
        const read = sink.got.filter(part => part.length === 1).join('')
        expect(text.startsWith(read)).toBe(true)
        expect(ends.length).toBeLessThanOrEqual(1)
        if (ends[0] === 'end') expect(read).toBe(text)
        if (ends[0] === 'end' || ends[0] === 'upstream-reset') expect(sink.got.at(-1)).toBe(ends[0])
      }
      const [whole, ...more] = log.filter(line => line.startsWith('whole'))
      expect(more).toEqual([])
      if (whole !== undefined) expect(whole).toBe(`whole ${text}`)
      expect(log.length).toBeLessThanOrEqual(1)
    }),
  )
})
