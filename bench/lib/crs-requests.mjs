/**
 * Requests for benchmarks of rule sets: a browser's GET with four parameters, and a JSON body of half a kilobyte. No two
 * have the same values of parameters; the fields are those of one browser, as a browser sends them again and again.
 */

export const BROWSER = [
  ['Host', 'shop.example'],
  [
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  ],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
  ['Accept-Language', 'en-GB,en;q=0.9,de;q=0.7'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Cookie', 'session=8f14e45fceea167a5a36dedd4bea2543; theme=dark'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Dest', 'document'],
  ['Upgrade-Insecure-Requests', '1'],
]
export const JSON_FIELDS = [...BROWSER.slice(0, 6), ['Content-Type', 'application/json']]

const WORDS =
  'waterproof tent for four light red canvas folding chair gas stove maps of the north walking boots summer bag'.split(
    ' ',
  )

/** A sequence of whole numbers below `below` that looks random and is the same in each run. */
export function numbers(seed) {
  let state = seed >>> 0 || 1
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function words(next, count) {
  return Array.from({ length: count }, () => WORDS[next(WORDS.length)])
}

/** Target of a GET: four parameters, each with a value of its own. */
export function target(next, index) {
  const search = [...words(next, 3), index.toString(36)].join('+')
  return `/products/tents?category=${words(next, 2).join('-')}-${next(1e6)}&sort=price_${next(1e4)}&page=${index}&q=${search}`
}

/** A JSON body of about 500 bytes whose values no other body has. */
export function jsonBody(next, index) {
  return JSON.stringify({
    order: index,
    customer: {
      id: next(1e9),
      name: `${words(next, 1)} ${words(next, 1)} ${next(1e6)}`,
      email: `anna.${next(1e9)}@mail.example`,
      city: `Ulm ${next(1e5)}`,
      zip: String(10_000 + next(89_999)),
    },
    items: Array.from({ length: 3 }, () => ({
      sku: `TNT-${next(1e8)}`,
      title: `${words(next, 3).join(' ')} ${next(1e6)}`,
      quantity: 1 + next(9),
      price: next(1e6) / 100,
    })),
    note: `Please leave the parcel with the neighbour on floor ${next(1e6)}, ${words(next, 4).join(' ')}`,
    gift: next(2) === 1,
  })
}

export function get(next, index, headers = BROWSER) {
  return { method: 'GET', target: target(next, index), headers }
}

export function post(next, index, headers = JSON_FIELDS) {
  const body = Buffer.from(jsonBody(next, index))
  return {
    method: 'POST',
    target: '/api/orders',
    headers: [...headers, ['Content-Length', String(body.length)]],
    body,
  }
}

/** The same browser, but with fields that no other request has. */
export function strangers(next, headers) {
  return headers.map(([name, value]) =>
    name === 'Host' || name === 'Content-Type' || name === 'Content-Length'
      ? [name, value]
      : name === 'Cookie'
        ? [name, `session=${next(1e9).toString(16)}${next(1e9).toString(16)}; theme=dark${next(1e6)}`]
        : [
            name,
            name === 'Accept'
              ? `${value},text/x${next(1e6)}`
              : `${value}${name === 'User-Agent' ? `.${next(1e6)}` : ''}`,
          ],
  )
}

/** A script for wrk that sends such requests: the values of each are made of a counter. */
export function luaScript(kind) {
  const fields = kind === 'post' ? JSON_FIELDS : BROWSER
  const headers = fields.map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`).join('\n')
  const target = '/products/tents?category=family-tents-%d&sort=price_%d&page=%d&q=waterproof+tent+for+%d'
  const body = JSON.stringify({
    order: 'A%d',
    customer: {
      id: 'C%d',
      name: 'Anna Schneider %d',
      email: 'anna.%d@mail.example',
      city: 'Ulm %d',
      zip: '%d',
    },
    items: [1, 2, 3].map(quantity => ({
      sku: 'TNT-%d',
      title: 'folding chair %d',
      quantity,
      price: '%d.95',
    })),
    note: 'Please leave the parcel with the neighbour on floor %d, second door on the left',
    gift: false,
  })
  const text = kind === 'post' ? body : target
  const places = text.split('%d').length - 1
  const values = Array.from({ length: places }, (_, i) => `count * ${i + 3} + ${i * 7919}`).join(', ')
  const made = `string.format(${lua(text)}, ${values})`
  return `${headers}
local count = math.random(1000000)
init = function() math.randomseed(os.time()) count = math.random(100000000) end
request = function()
  count = count + 1
  return wrk.format(${kind === 'post' ? `"POST", "/api/orders", nil, ${made}` : `"GET", ${made}`})
end
`
}

function lua(text) {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
