import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Reply } from '../pipeline/contract.ts'
import { testContext } from '../testing/context.ts'
import { methods } from './methods.ts'

const ALL = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

test.each([
  ...ALL.split(', ').map(method => ({ allow: undefined, method, upgrade: null, refused: undefined })),
  ...['TRACE', 'CONNECT', 'PROPFIND', 'get', 'Get', 'GETS', 'constructor', '__proto__'].map(method => ({
    allow: undefined,
    method,
    upgrade: null,
    refused: ALL,
  })),
  { allow: undefined, method: 'CONNECT', upgrade: 'websocket', refused: undefined },
  { allow: undefined, method: 'GET', upgrade: 'websocket', refused: undefined },
  { allow: ['POST'], method: 'CONNECT', upgrade: 'websocket', refused: 'POST' },
  { allow: ['POST'], method: 'GET', upgrade: null, refused: 'POST' },
  { allow: ['GET', 'GET', 'PROPFIND'], method: 'POST', upgrade: null, refused: 'GET, PROPFIND' },
  { allow: ['GET', 'PROPFIND'], method: 'PROPFIND', upgrade: null, refused: undefined },
])(
  '$method with upgrade $upgrade, allowed $allow: refused with Allow $refused',
  ({ allow, method, upgrade, refused }) => {
    const gate = methods(allow ? { allow } : {})
    const verdict = gate.onRequest?.(testContext({ method, upgrade })) as Reply | undefined
    expect(verdict?.headers.get('allow')).toBe(refused)
    expect(verdict?.status).toBe(refused && 405)
    expect(verdict?.reason).toBe(refused && 'method-not-allowed')
  },
)

test.each([
  { allow: [], faults: 1 },
  { allow: ['get'], faults: 1 },
  { allow: ['CONNECT', 'GET', 'a b', ''], faults: 3 },
])('$allow is refused with $faults faults', ({ allow, faults }) => {
  let thrown: unknown
  try {
    methods({ allow })
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  expect((thrown as ConfigError).faults).toHaveLength(faults)
})
