import { constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { session2 } from '../../../test/support/clients.ts'
import { HeaderList } from '../../headers/list.ts'
import { fieldsOf } from './fields2.ts'

const NAMES = Object.entries(constants)
  .filter(
    ([key, value]) => key.startsWith('HTTP2_HEADER_') && typeof value === 'string' && !value.startsWith(':'),
  )
  .map(([, value]) => value as string)

describe('fieldsOf', () => {
  test('is accepted by node:http2 for every name that it knows, twice', async () => {
    const server = createServer()
    const faults: string[] = []
    server.on('stream', stream => {
      for (const name of NAMES) {
        try {
          stream.additionalHeaders({ ':status': 103, ...fieldsOf(new HeaderList([name, 'a', name, 'b'])) })
        } catch (error) {
          faults.push(`${name}: ${(error as Error).message}`)
        }
      }
      stream.respond({ ':status': 200 }, { endStream: true })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const stream = session2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).request({
      ':path': '/',
    })
    stream.on('error', () => {})
    await new Promise(resolve => stream.once('close', resolve))
    expect(faults).toEqual([])
    expect(NAMES.length).toBeGreaterThan(50)
  })

  test('keeps all lines of other fields, in order, under lower-case names', () => {
    const name = fc.constantFrom('X-A', 'x-a', 'Set-Cookie', 'Vary', 'vary', 'Link')
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.stringMatching(/^[a-z]{1,5}$/))), lines => {
        const expected: Record<string, string[]> = {}
        for (const [key, value] of lines) (expected[key.toLowerCase()] ??= []).push(value)
        const made = fieldsOf(new HeaderList(lines.flat()))
        expect(Object.keys(made)).toEqual(Object.keys(expected))
        for (const key of Object.keys(made)) expect([made[key]].flat()).toEqual(expected[key])
      }),
    )
  })

  test('drops what belongs to a connection', () => {
    const raw = [
      'Connection',
      'x',
      'Keep-Alive',
      '1',
      'Transfer-Encoding',
      'chunked',
      'Upgrade',
      'x',
      'TE',
      'x',
      'A',
      '1',
    ]
    expect({ ...fieldsOf(new HeaderList(raw)) }).toEqual({ a: '1' })
  })

  test('names that objects have of their own are plain names', () => {
    const made = fieldsOf(new HeaderList(['__proto__', 'a', 'constructor', 'b', 'constructor', 'c']))
    expect(Object.getOwnPropertyNames(made)).toEqual(['__proto__', 'constructor'])
  })
})
