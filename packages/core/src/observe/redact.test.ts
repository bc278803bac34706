import { expect, test } from 'vitest'
import { printable, redactAddress, redactQuery } from './redact.ts'

const NAMES = new Set(['token', 'api_key'])

test.each([
  ['', ''],
  ['a=1&b=2', 'a=1&b=2'],
  ['token=s3cret', 'token=[redacted]'],
  ['a=1&token=s3cret&b=2', 'a=1&token=[redacted]&b=2'],
  ['TOKEN=s3cret', 'TOKEN=[redacted]'],
  ['%74oken=s3cret', '%74oken=[redacted]'],
  ['tok%65n=s3cret&%zz=1', 'tok%65n=[redacted]&%zz=1'],
  ['+token=s3cret', '+token=[redacted]'],
  ['user[token]=s3cret', 'user[token]=[redacted]'],
  ['user%5Btoken%5D[]=s3cret', 'user%5Btoken%5D[]=[redacted]'],
  ['token[]=s3cret', 'token[]=[redacted]'],
  ['token[0]=s3cret', 'token[0]=[redacted]'],
  ['user.token=s3cret', 'user.token=[redacted]'],
  ['user[tokens]=1', 'user[tokens]=1'],
  ['token=a=b=c', 'token=[redacted]'],
  ['token=s3cret&token=again', 'token=[redacted]&token=[redacted]'],
  ['a=1;token=s3cret;b=2', 'a=1;token=[redacted];b=2'],
  ['token', 'token'],
  ['token=', 'token=[redacted]'],
  ['&&=x&', '&&=x&'],
  ['api_key=s3cret', 'api_key=[redacted]'],
  ['tokens=1', 'tokens=1'],
])('%s is logged as %s', (query, logged) => {
  expect(redactQuery(query, NAMES)).toBe(logged)
})

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['https://a.example/x?token=s3cret#frag', 'https://a.example/x?token=[redacted]'],
  ['https://user:s3cret@a.example/x', 'https://[redacted]@a.example/x'],
  ['/x#access_token=s3cret', '/x'],
])('the address %s is logged as %s', (address, logged) => {
  expect(redactAddress(address, NAMES)).toBe(logged)
})

test.each([
  ['plain', 10, 'plain'],
  ['exactly-10', 10, 'exactly-10'],
  ['more-than-10', 10, 'more-than-…'],
  ['a\r\nb', 10, 'a\\x0d\\x0ab'],
  ['\x1b[2J', 10, '\\x1b[2J'],
  ['\x9b2J', 10, '\\x9b2J'],
  ['\x7f\xe9\u2028', 10, '\\x7f\\xe9\\u2028'],
  ['long \x00 text', 6, 'long \\x00…'],
])('%j, at most %i characters: %s', (text, most, out) => {
  expect(printable(text, most)).toBe(out)
})
