import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { readOnAfterBrokenWrite } from './broken-write.ts'

it('many uploads on one connection change its writes once', () => {
  const socket = new Socket() as Socket & { _write: unknown; _writev: unknown }
  readOnAfterBrokenWrite(socket)
  const { _write, _writev } = socket
  expect(_write).not.toBe(Socket.prototype._write)
  readOnAfterBrokenWrite(socket)
  expect([socket._write, socket._writev]).toEqual([_write, _writev])
})
