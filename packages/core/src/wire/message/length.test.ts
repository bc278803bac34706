import { expect, it } from 'vitest'
import { isChunked, readLength } from './length.ts'

const length = (text: string, zeros = false): number => {
  const bytes = Buffer.from(text, 'latin1')
  return readLength(bytes, 0, bytes.length, zeros)
}

it.each([
  ['0', 0],
  ['7', 7],
  ['1024', 1024],
  ['999999999999999', 999_999_999_999_999],
])('%s is a length', (text, expected) => {
  expect([length(text), length(text, true)]).toEqual([expected, expected])
})

it.each([
  ...['', ' 1', '1 ', '+1', '-1', '1,1', '1, 1', '0x10', '1e3', '1.0', '\xb2', '1_000', '1\0'],
  '1000000000000000',
  '18446744073709551617',
])('%j is none', text => {
  expect([length(text), length(text, true)]).toEqual([-1, -1])
})

it('leading zeros are a matter of choice', () => {
  expect([length('007'), length('00'), length('007', true), length('00', true)]).toEqual([-1, -1, 7, 0])
})

it.each([
  ['chunked', true],
  ['Chunked', true],
  ['CHUNKED', true],
  ['chunked ', false],
  ['xchunked', false],
  ['chunke', false],
  ['gzip, chunked', false],
  ['chunked, chunked', false],
  ['chun\x4bed', true],
  ['chun\x0bed', false],
  ['CHUN\xebED', false],
])('%j is chunked: %s', (text, expected) => {
  const bytes = Buffer.from(text, 'latin1')
  expect(isChunked(bytes, 0, bytes.length)).toBe(expected)
})
