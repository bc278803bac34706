import { HeaderList } from '@postern/core'
import { expect, test } from 'vitest'
import { headDescribes, storedFields, updatedFields } from './update.ts'

test('fields of a hop and those that are withheld are not stored', () => {
  const headers = HeaderList.from({
    Connection: 'a, b',
    A: '1',
    b: '2',
    c: '3',
    'Keep-Alive': 'x',
    TE: 'x',
    'Proxy-Authenticate': 'x',
    Age: '5',
    'Set-Cookie': ['x=1', 'y=2'],
    Secret: 's',
  })
  expect(storedFields(headers, ['secret'])).toEqual(['c', '3', 'Set-Cookie', 'x=1', 'Set-Cookie', 'y=2'])
})

test('a newer head replaces what it names, but nothing that describes the bytes', () => {
  const stored = ['A', '1', 'B', '1', 'b', '2', 'Content-Length', '36', 'Content-Encoding', 'gzip']
  const newer = HeaderList.from({
    b: '3',
    C: '4',
    'Content-Length': '10',
    'Content-Encoding': 'br',
    Connection: 'x',
  })
  expect(updatedFields(stored, newer)).toEqual([
    ...['A', '1', 'Content-Length', '36', 'Content-Encoding', 'gzip'],
    ...['b', '3', 'C', '4'],
  ])
  expect(updatedFields(['a', '1'], HeaderList.from({ 'Set-Cookie': 'x=1' }), ['set-cookie'])).toEqual([
    'a',
    '1',
  ])
})

test('a HEAD speaks of what is stored when nothing in it contradicts', () => {
  const stored = HeaderList.from({ ETag: '"a"', 'Content-Length': 5 })
  expect(headDescribes(HeaderList.from({ ETag: '"a"', 'Content-Length': 5 }), stored)).toBe(true)
  expect(headDescribes(HeaderList.from({}), stored)).toBe(true)
  expect(headDescribes(HeaderList.from({ 'Content-Length': 6 }), stored)).toBe(false)
  expect(headDescribes(HeaderList.from({ ETag: '"b"' }), stored)).toBe(false)
})
