/** What people hit with other firewalls: B083 to B097. B083 and B085 to B087 are also tested beside the readers and the filter. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type InspectRequest, signatures } from '../src/index.ts'
import { assertTable, explain, inspect, type Row, request } from '../src/testing/index.ts'

const engine = signatures()

const raw = (type: string, body: string | Uint8Array, more: Record<string, string> = {}): InspectRequest =>
  request('POST /', { headers: { 'Content-Type': type, ...more }, body })

const FORM = 'application/x-www-form-urlencoded'
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

describe('B086: JSON', () => {
  const rows: Row[] = [
    ['a scalar', raw('application/json', `"' OR '1'='1"`), 'sqli-*'],
    ['an array', raw('application/json', '["teacher"]'), 'passes'],
    ['an array with an attack', raw('application/json', `["' OR '1'='1"]`), 'sqli-*'],
    ['unquoted keys', raw('application/json', '{a:"<script>"}'), 'json-syntax'],
    ['a trailing comma', raw('application/json', '{"a":"x",}'), 'json-syntax'],
    ['a byte order mark', raw('application/json', '\ufeff{}'), 'json-bom'],
    ['two of them', raw('application/json', '\ufeff\ufeff{}'), 'json-bom'],
    ['nested 10 000 deep', raw('application/json', '['.repeat(10_000) + ']'.repeat(10_000)), 'json-depth'],
    ['escapes', raw('application/json', '{"a":"\\u0027 or \\u00271\\u0027=\\u00271"}'), 'sqli-*'],
    ['lines of JSON', raw('application/x-ndjson', '{"a":1}\n{"a":"<script>alert(1)</script>"}\n'), 'xss-*'],
    ['UTF-16 declared', raw('application/json;charset=utf-16', utf16('{"a":1}')), 'charset'],
    ['UTF-16 not declared', raw('application/json', utf16('{"a":1}')), 'json-syntax'],
  ]
  test.each(rows)('%s', (...row) => assertTable(engine, [row]))
})

test('B087: every occurrence of a name is looked at', () => {
  const aware = signatures({ read: {} })
  for (const body of [
    `{"q":"' or 1=1--","q":"ok"}`,
    `{"q":"ok","q":"' or 1=1--"}`,
    `{"q":"ok","\\u0071":"' or 1=1--"}`,
  ]) {
    const found = inspect(aware, raw('application/json', body))
    expect([body, found.violation?.rule]).toEqual([body, 'json-duplicate-key'])
    // Told as running text as well, so that an exception for the form is none for the content.
    expect(found.findings.some(({ rule }) => rule.startsWith('sqli-'))).toBe(true)
  }
  expect(
    inspect(aware, raw('application/json', `{"a.b":"' or 1=1--","a":{"b":"ok"}}`)).findings[0]!.place,
  ).toBe('json["a.b"]')
  expect(
    inspect(aware, raw('application/json', `{"a.b":"ok","a":{"b":"' or 1=1--"}}`)).findings[0]!.place,
  ).toBe('json.a.b')
})

describe('B089: one probe, every place, every spelling', () => {
  const percent = (text: string): string =>
    [...text].map(c => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')
  const probe = "x' or '1'='1"
  const spellings: Readonly<Record<string, string>> = {
    plain: encodeURIComponent(probe),
    'percent, every byte': percent(probe),
    'percent twice': encodeURIComponent(percent(probe)),
    '%u': probe.replaceAll("'", '%u0027').replaceAll(' ', '%20'),
    'plus for space': percent(probe).replaceAll('%20', '+'),
    'HTML entities': encodeURIComponent(probe.replaceAll("'", '&#39;')),
    overlong: encodeURIComponent(probe).replaceAll("'", '%c0%a7').replaceAll('%27', '%c0%a7'),
    'full width': encodeURIComponent(probe.replaceAll("'", '\uff07')),
    base64: encodeURIComponent(Buffer.from(probe).toString('base64')),
    base64url: Buffer.from(probe).toString('base64url'),
    'comments for spaces': encodeURIComponent(probe.replaceAll(' ', '/**/')),
    'null bytes': encodeURIComponent(probe).replaceAll('%20', '%00%20'),
  }
  const places: Readonly<Record<string, (text: string) => InspectRequest>> = {
    path: text => request(`GET /item/${text}`),
    query: text => request(`GET /?id=${text}`),
    header: text => request('GET /', { headers: { 'X-Filter': text } }),
    cookie: text => request('GET /', { headers: { Cookie: `id=${text}` } }),
    form: text => raw(FORM, `id=${text}`),
    'gzip form': text => raw(FORM, gzipSync(`id=${text}`), { 'Content-Encoding': 'gzip' }),
    json: text => request('POST /', { json: { id: text } }),
    multipart: text => request('POST /', { multipart: { id: text } }),
    xml: text => raw('text/xml', `<a>${text.replaceAll('&', '&amp;')}</a>`),
  }
  const rows = Object.entries(spellings).flatMap(([spelling, text]) =>
    Object.entries(places).map(([place, build]) => [spelling, place, () => build(text)] as const),
  )
  test.each(rows)('%s in %s', (_spelling, _place, build) => {
    const found = inspect(engine, build())
    expect(found.blocked, explain(engine, build(), found)).toBe(true)
  })

  test('IIS names of files', () => {
    assertTable(engine, [
      ['a stream', request('GET /web.config::$DATA'), 'blocked'],
      ['a dot at the end', request('GET /web.config.'), 'blocked'],
    ])
  })

  test('a percent sign in a text is only that', () => {
    assertTable(engine, [
      ['25 %', request('GET /', { query: { q: '100%25 of all, or 1%27 of them' } }), 'passes'],
      ['invalid', raw(FORM, 'q=50%off%zz%'), 'passes'],
    ])
  })
})

test('B091: near misses cost no more a byte when they are many', () => {
  const fragments = [
    '/*',
    'url( ',
    `'"(`,
    '\\',
    '%25',
    '&#',
    "' or ",
    '<a <a ',
    '../',
    '{{${',
    'union select ',
    '=?UTF-8?',
    'AAAA',
  ]
  const cost = (text: string): number => {
    const one = raw('text/plain', text)
    engine.inspect(one)
    const times = Math.ceil(65_536 / text.length)
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 3; round++) {
      const before = process.cpuUsage()
      for (let i = 0; i < times; i++) engine.inspect(one)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / times / text.length)
    }
    return best
  }
  for (const fragment of fragments) {
    const [small, large] = [2048, 65_536].map(size =>
      cost(fragment.repeat(Math.ceil(size / fragment.length))),
    )
    // Quadratic cost would be 32 times as much.
    expect([fragment, large! / small! < 6]).toEqual([fragment, true])
  }
}, 180_000)

describe('ordinary traffic', () => {
  const everywhere = (text: string): Row[] => [
    [`${text} in a query`, request('GET /', { query: { q: text } }), 'passes'],
    [`${text} in a form`, request('POST /', { form: { q: text } }), 'passes'],
    [`${text} in JSON`, request('POST /', { json: { q: text } }), 'passes'],
    [
      `${text} in JSON, escaped`,
      raw(
        'application/json',
        JSON.stringify({ q: text }).replace(
          /[^\x20-\x7e]/g,
          c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
      ),
      'passes',
    ],
    [`${text} as text`, raw('text/plain; charset=utf-8', text), 'passes'],
    [`${text} in multipart`, request('POST /', { multipart: { q: text } }), 'passes'],
  ]

  test.each([
    '4. Select the plan form online',
    'Die "Union von Europa"',
    '"Quote"! Next sentence; this is not funny',
    'One quarter (24%) of people',
    'Take a left (1 mile)',
    'Aside from that; how was your day today?',
    'drop me a line; update me -- thanks',
  ])('B093: %s', text => assertTable(engine, everywhere(text)))

  test.each([
    ['Chinese', '这是一条很长的评论，讲述了我们在北京的旅行；“非常好”，我们会再来的！'.repeat(20)],
    ['Japanese', 'とても良い商品でした。「また買いたい」と思います；ありがとうございました！'.repeat(20)],
    ['Korean', '정말 좋은 제품입니다. "다시 구매하고 싶어요"; 감사합니다!'.repeat(20)],
    ['Arabic', 'هذا منتج رائع جدًا؛ "سأشتريه مرة أخرى" — شكرًا لكم!'.repeat(20)],
    ['Hebrew', 'מוצר מצוין; "אקנה שוב" — תודה רבה! צה"ל'.repeat(20)],
    ['Russian', 'Отличный товар; «куплю ещё» — спасибо! Объём 1 = 2 литра.'.repeat(20)],
    ['Hindi', 'यह बहुत अच्छा उत्पाद है; "मैं फिर से खरीदूंगा" — धन्यवाद!'.repeat(20)],
    ['emoji', '👍🏽👩‍👩‍👧‍👦🏳️‍🌈😀🎉❤️‍🔥'.repeat(30)],
    ['curly quotes', '“It’s” or ‘it isn’t’ = “that’s” the question — or is it…'],
    ['marks', 'soft\u00adhyphen, zero\u200dwidth, \u200eleft\u200f and right'],
  ])('B094: %s', (_, text) => assertTable(engine, everywhere(text)))

  test('B095: technical text', () => {
    const saml = Buffer.from(
      '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1"/>',
    ).toString('base64')
    assertTable(engine, [
      ['SAML', request('POST /acs', { form: { SAMLRequest: saml, RelayState: '/home?a=b' } }), 'passes'],
      [
        'a file name',
        request('POST /', { multipart: { f: { filename: 'RootAndLeafOpenCamera.jpg', content: 'x' } } }),
        'passes',
      ],
      ['a field', request('POST /', { form: { 'site-settings[title_strip_tags]': '1' } }), 'passes'],
      ['history', request('GET /', { query: { 'history.history': '1' } }), 'passes'],
      ['a URL', request('GET /', { query: { u: 'url?test=1&sort=0' } }), 'passes'],
      [
        'SQL in Markdown',
        request('POST /', { json: { body: '```sql\nSELECT id FROM users WHERE id = 1;\n```' } }),
        'passes',
      ],
      [
        'details',
        request('POST /', { json: { body: '<details><summary>More</summary>Text</details>' } }),
        'passes',
      ],
      [
        'a stack trace',
        request('POST /', {
          json: { body: 'Error: x\n    at run (/app/index.js:1:2)\n    at node:internal/main:3' },
        }),
        'passes',
      ],
      [
        'a diff',
        request('POST /', { json: { body: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-let a = 1\n+let a = 2' } }),
        'passes',
      ],
      [
        'a JWT',
        request('GET /', {
          headers: { Authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123' },
        }),
        'passes',
      ],
      [
        'an image',
        request('POST /', {
          json: { img: 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7' },
        }),
        'passes',
      ],
    ])
    // This one reads like an attack, and passes with an exception for its field, in nested JSON too.
    const post = request('POST /', {
      json: { posts: [{ body: '```bash\ncurl https://example.com/x | sh\n```' }] },
    })
    expect(engine.inspect(post, (_rule, _category, place) => place === 'json.posts[0].body').blocked).toBe(
      false,
    )
  })

  test('B097: browsers', () => {
    const agent =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 [FBAN/FBIOS;FBAV/490.0.0;FBLC/de_DE;FBOP/5]'
    assertTable(engine, [
      [
        'cookies',
        request('GET /', { headers: { Cookie: '_ga=GA1.2.1.2; _gcl_au=1.1.3; consent=~1*2~a;b=*' } }),
        'passes',
      ],
      [
        'a Referer',
        request('GET /', { headers: { Referer: 'https://a.example/?categories=a,b&brand=5432,5646' } }),
        'passes',
      ],
      ['an app', request('GET /', { headers: { 'User-Agent': agent } }), 'passes'],
      [
        'PGT',
        request('GET /', {
          headers: { 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0; PGT; rv:11.0) like Gecko' },
        }),
        'passes',
      ],
      ['two spaces', raw('application/json;  charset=utf-8', '{"a":1}'), 'passes'],
    ])
  })
})
