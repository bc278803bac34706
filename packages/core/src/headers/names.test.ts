import { expect, test } from 'vitest'
import * as names from './names.ts'

test.each([
  ['host', names.HOST],
  ['HOST', names.HOST],
  ['Connection', names.CONNECTION],
  ['content-LENGTH', names.CONTENT_LENGTH],
  ['Transfer-Encoding', names.TRANSFER_ENCODING],
  ['Keep-Alive', names.HOP_BY_HOP],
  ['Proxy-Connection', names.HOP_BY_HOP],
  ['Proxy-Authorization', names.HOP_BY_HOP],
  ['HTTP2-Settings', names.HOP_BY_HOP],
  ['TE', names.TE],
  ['Upgrade', names.UPGRADE],
  ['Expect', names.EXPECT],
  ['Trailer', names.TRAILER],
  ['Cookie', names.COOKIE],
  ['X-Forwarded-For', names.FORWARDED],
  ['X-Real-IP', names.FORWARDED],
  ['Forwarded', names.FORWARDED],
  ['X_Forwarded_For', names.ALIAS],
  ['X.Real.IP', names.ALIAS],
  ['X-Forwarded_Host', names.ALIAS],
  ['Content_Length', names.ALIAS],
  ['Transfer.Encoding', names.ALIAS],
  ['X_Request_ID', names.ALIAS],
  ['Client_Cert', names.ALIAS],
  ['Proxy', names.HOP_BY_HOP],
  ['X-Forwarded-Ssl', names.TOLD_BY_EDGE],
  ['X-Forwarded', names.TOLD_BY_EDGE],
  ['X-Forwarded-For-Original', names.TOLD_BY_EDGE],
  ['X-ORIGINAL-URL', names.TOLD_BY_EDGE],
  ['Forwarded-For', names.TOLD_BY_EDGE],
  ['CF-Connecting-IP', names.TOLD_BY_EDGE],
  ['Client-Cert', names.TOLD_BY_EDGE],
  ['X_Forwarded_Ssl', names.ALIAS],
  ['X.Original_Url', names.ALIAS],
  ['True_Client.IP', names.ALIAS],
  ['X_Host', names.ALIAS],
  ['X-Original', names.END_TO_END],
  ['X-Hosts', names.END_TO_END],
  ['X-Request-Id', names.END_TO_END],
  ['X_Custom', names.END_TO_END],
  ['Accept', names.END_TO_END],
  ['constructor', names.END_TO_END],
  ['__proto__', names.END_TO_END],
  ['toString', names.END_TO_END],
])('%s is of kind %i', (name, kind) => {
  expect(names.kindOf(name)).toBe(kind)
  expect(names.kindOf(name)).toBe(kind)
})

test('more spellings than are remembered are still told apart', () => {
  for (let i = 0; i < 3000; i++) expect(names.kindOf(`x-${i}`)).toBe(names.END_TO_END)
  expect(names.kindOf('hOsT')).toBe(names.HOST)
  expect(names.kindOf('x_forwarded-PROTO')).toBe(names.ALIAS)
})

test.each([
  ['X_Real.IP', 'x-real-ip'],
  ['x-real-ip', 'x-real-ip'],
])('%s folds onto %s', (name, folded) => {
  expect(names.foldName(name)).toBe(folded)
})
