/** A shop that tests its own rules of the ModSecurity language in its own suite: as data, one by one, and in its edge. */
import { pipeline, reply } from '@postern/core'
import { seclang, waf } from '@postern/waf'
import { inspect, request } from '@postern/waf/testing'
import { describeFtw } from '@postern/waf/testing/vitest'
import { expect, test } from 'vitest'

const engine = await seclang({ files: ['examples/rules/shop.conf'] })

// Tests as data, which people who write no TypeScript can add to: a suite a file, a test each.

describeFtw(engine, 'examples/rules/*.yaml')

// One by one, with the findings.

test('a price from outside', () => {
  const order = request('POST /orders', { json: { item: 7, price: 1 } })
  expect(inspect(engine, order)).toMatchRule('10002')
  expect(inspect(engine, order).findings[0]).toMatchObject({ severity: 'medium', tags: ['shop'] })
  expect(inspect(engine, request('GET /search?sort=price'))).toPass()
})

// In the edge, with a handler in the upstream's place. Replies are looked at too.

test('a stack trace does not get out', async () => {
  let body = 'Error: no such item\n    at Shop.find (/srv/shop/items.js:12:9)'
  const app = pipeline()
    .use(waf(engine))
    .handle(() => reply(500, body))
  expect((await app.inject()).text()).toBe('500 refused\n')
  body = 'We are sorry, there is no such item.'
  expect((await app.inject()).text()).toBe(body)
})

// A rule that is being written can stand beside its test.

test('a rule as a template string', async () => {
  const draft = await seclang({
    rules: `SecRule REQUEST_HEADERS:Referer "@contains evil.example" "id:1,phase:1,deny,log,msg:'%{MATCHED_VAR}'"`,
  })
  const visit = request('GET /', { headers: { Referer: 'https://evil.example/x' } })
  expect(inspect(draft, visit).findings).toMatchObject([
    { rule: '1', place: 'REQUEST_HEADERS:Referer', offset: 8, message: 'https://evil.example/x' },
  ])
})

// npx vitest run examples/rules.test.ts
