import { describe, expect, it } from 'vitest'
import { httpOrigin, names, parseFlags, UsageError, whole } from './flags.mjs'

describe('parseFlags', () => {
  it('fills in defaults', () => {
    expect(parseFlags(['--port', '80'], { port: undefined, path: '/' })).toEqual({ port: '80', path: '/' })
  })

  const faults: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown flag', ['--prt', '80'], /--prt/],
    ['a missing flag', [], /--port is missing/],
    ['a missing value', ['--port'], /--port/],
    ['a loose word', ['--port', '80', 'x'], /x/],
  ]
  for (const [title, argv, message] of faults) {
    it(`refuses ${title}`, () => {
      const act = () => parseFlags([...argv], { port: undefined })
      expect(act).toThrow(UsageError)
      expect(act).toThrow(message)
    })
  }
})

describe('values', () => {
  it('accepts what is meant', () => {
    expect(whole('port', '65535', 0, 65_535)).toBe(65_535)
    expect(httpOrigin('origin', 'http://127.0.0.1:3000/')).toBe('http://127.0.0.1:3000')
    expect(names('with', 'b,a,b', ['a', 'b'])).toEqual(['b', 'a'])
  })

  const faults: readonly (readonly [string, () => unknown])[] = [
    ['a port out of range', () => whole('port', '65536', 0, 65_535)],
    ['a number with other characters', () => whole('port', '1e3', 0, 65_535)],
    ['nothing for a number', () => whole('port', '', 0, 65_535)],
    ['another scheme', () => httpOrigin('origin', 'https://127.0.0.1')],
    ['a path', () => httpOrigin('origin', 'http://127.0.0.1/a')],
    ['no URL', () => httpOrigin('origin', '127.0.0.1:80')],
    ['an unknown name', () => names('with', 'a,c', ['a', 'b'])],
    ['a name of every object', () => names('with', 'constructor', ['a', 'b'])],
  ]
  for (const [title, act] of faults) it(`refuses ${title}`, () => expect(act).toThrow(UsageError))
})
