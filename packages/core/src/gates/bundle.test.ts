import { expect, test } from 'vitest'
import { ConfigError } from '../errors.ts'
import type { Filter } from '../pipeline/contract.ts'
import { pipeline } from '../pipeline/pipeline.ts'
import { reply } from '../reply.ts'
import { bundle } from './bundle.ts'

const seen: string[] = []
const noting = (name: string): Filter => ({ name, onRequest: () => void seen.push(name) })

test('the parts run in order, nested ones in their place', async () => {
  seen.length = 0
  const nested = bundle('outer', noting('a'), bundle('inner', noting('b'), noting('c')), noting('d'))
  const app = pipeline()
    .use(noting('before'))
    .use(nested)
    .use(noting('after'))
    .handle(() => reply(200))
  await app.inject()
  expect(seen).toEqual(['before', 'a', 'b', 'c', 'd', 'after'])
})

test('a part answers in its own name, and adds its state', async () => {
  const adds: Filter<object, { user: string }> = { name: 'adds', state: () => ({ user: 'x' }) }
  const stops: Filter<{ user: string }> = { name: 'stops', onRequest: cx => reply(403, cx.state.user) }
  const app = pipeline()
    .use(bundle('both', adds, stops))
    .handle(() => reply(200))
  const answer = await app.inject()
  expect(answer.status).toBe(403)
  expect(answer.text()).toBe('x')
  expect(answer.outcome.filter).toBe('stops')
})

test('what is no filter is refused, all at once', () => {
  const wrong = () =>
    bundle('wrong', noting('a'), (() => noting('b')) as unknown as Filter, null as unknown as Filter)
  expect(wrong).toThrow(ConfigError)
  expect(wrong).toThrow(/part 2[\s\S]*part 3/)
  expect(() => bundle('')).toThrow(ConfigError)
})
