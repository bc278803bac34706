import { expect, test } from 'vitest'
import { HeaderList } from '../headers/list.ts'
import { testHead } from '../testing/index.ts'
import { acceptOf, makeKey, refuseHandshake, switchingFields } from './websocket.ts'

test('the example of RFC 6455, 1.3', () => {
  expect(acceptOf('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
})

test('a key that was made passes the check of keys', () => {
  for (let i = 0; i < 50; i++) {
    const headers = HeaderList.from({ 'Sec-WebSocket-Key': makeKey(), 'Sec-WebSocket-Version': '13' })
    expect(refuseHandshake({ ...testHead(), headers, version: '1.1' })).toBeNull()
  }
})

test('the fields of a 101: one accept, of the key that the client sent', () => {
  const headers = HeaderList.from({ 'sec-websocket-accept': 'x', 'Set-Cookie': ['a', 'b'] })
  expect(switchingFields(headers, 'websocket', 'dGhlIHNhbXBsZSBub25jZQ==')).toEqual([
    ...['Connection', 'Upgrade', 'Upgrade', 'websocket'],
    ...['Sec-WebSocket-Accept', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
    ...['Set-Cookie', 'a', 'Set-Cookie', 'b'],
  ])
})
