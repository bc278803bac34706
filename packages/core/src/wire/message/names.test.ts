import fc from 'fast-check'
import { expect, it } from 'vitest'
import { kindOf } from '../../headers/names.ts'
import { addToHash, fieldName } from './names.ts'

function nameOf(text: string): ReturnType<typeof fieldName> {
  const bytes = Buffer.from(`\0${text}\0`, 'latin1')
  return fieldName(bytes, 1, bytes.length - 1, Buffer.from(text, 'latin1').reduce(addToHash, 0))
}

it('is the spelling and its kind, however many names share a place', () => {
  const token = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,80}$/)
  fc.assert(
    fc.property(fc.array(token, { maxLength: 50 }), names => {
      for (const name of names) expect(nameOf(name)).toMatchObject({ text: name, kind: kindOf(name) })
    }),
  )
  for (let i = 0; i < 10_000; i++) expect(nameOf(`x-${i}`).text).toBe(`x-${i}`)
})

it('common names stay the same string, whatever else is sent', () => {
  const before = nameOf('Content-Type')
  for (let i = 0; i < 100_000; i++) nameOf(`n${i}`)
  expect(nameOf('Content-Type')).toBe(before)
})

it('names with the same hash are told apart', () => {
  // 31 * 'A' + 'a' === 31 * 'B' + 'B'
  expect([nameOf('Aa').text, nameOf('BB').text, nameOf('Aa').text]).toEqual(['Aa', 'BB', 'Aa'])
})
