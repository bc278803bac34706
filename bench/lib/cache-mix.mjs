/**
 * Mixed load on a caching edge: an origin whose pages change, purges, updates, expiries, variants, ranges, conditions, clients that leave,
 * answers that break off. Every body is compared with what the origin has for that URL, variant and version, and every
 * version with what was allowed at that time.
 */
import { createHash } from 'node:crypto'
import { Agent, createServer, request } from 'node:http'
import { cache } from '@postern/cache'
import { attach, pipeline, proxy, upstream } from '@postern/core'

const PAGES = 60
const LANGUAGES = ['de', 'en', 'fr']
/** Milliseconds that clocks and whole seconds may add to what is allowed. */
const SLACK = 1500

/** What a page is like: its lifetime and what it varies by follow from its number. */
function kindOf(page) {
  return {
    maxAge: 1 + (page % 3),
    meanwhile: page % 4 === 0 ? 2 : 0,
    varies: page % 3 === 0,
    shared: page % 10 !== 9,
    size: 200 + ((page * 7919) % 60_000),
  }
}

function bodyOf(page, variant, version) {
  const seed = createHash('sha256').update(`${page} ${variant} ${version}`).digest()
  const body = Buffer.alloc(kindOf(page).size)
  for (let i = 0; i < body.length; i++) body[i] = seed[i % 32] ^ (i >> 5) ^ (i >> 13)
  return body
}

/**
 * Runs the mix. Gives what happened, and every fault as a sentence.
 * @param options.seconds how long; @param options.clients how many at once; @param options.maxBytes of the cache
 */
export async function runMix({ seconds, clients = 24, maxBytes = 2_000_000 }) {
  const faults = []
  const counts = {
    requests: 0,
    hits: 0,
    partial: 0,
    notModified: 0,
    broken: 0,
    left: 0,
    purges: 0,
    updates: 0,
    origin: 0,
  }
  // When each version of a page began; the last one is the present.
  const began = Array.from({ length: PAGES }, () => [performance.now()])
  /** Nobody who asks from now on may see an older version than this. */
  const floor = Array.from({ length: PAGES }, () => 0)

  const origin = createServer((req, res) => {
    counts.origin++
    const page = Number(/\d+/.exec(req.url)[0])
    const { maxAge, meanwhile, varies, shared } = kindOf(page)
    if (req.method === 'PUT') {
      req.resume().on('end', () => {
        began[page].push(performance.now())
        res.writeHead(204).end()
      })
      return
    }
    const version = began[page].length - 1
    const variant = varies ? req.headers['accept-language'] : ''
    const body = bodyOf(page, variant, version)
    const etag = `"${page}-${variant}-${version}"`
    const lifetime = shared
      ? `max-age=${maxAge}${meanwhile ? `, stale-while-revalidate=${meanwhile}` : ''}`
      : 'private'
    const fields = {
      'Cache-Control': lifetime,
      ETag: etag,
      'X-Version': version,
      'Cache-Tag': `page-${page} all`,
    }
    if (varies) fields.Vary = 'Accept-Language'
    const answer = () => {
      if (req.headers['if-none-match'] === etag) return res.writeHead(304, fields).end()
      const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '')
      if (range && (req.headers['if-range'] ?? etag) === etag) {
        const [first, last] = [Number(range[1]), Math.min(Number(range[2]), body.length - 1)]
        fields['Content-Range'] = `bytes ${first}-${last}/${body.length}`
        return res.writeHead(206, fields).end(body.subarray(first, last + 1))
      }
      const dice = Math.random()
      if (dice < 0.02) return res.socket.destroy()
      if (dice < 0.5) fields['Content-Length'] = body.length
      res.writeHead(200, fields)
      const half = body.length >> 1
      res.write(body.subarray(0, half))
      if (dice > 0.98) setTimeout(() => res.socket?.destroy(), 5)
      else setTimeout(() => res.end(body.subarray(half)), dice * 20)
    }
    if (page % 5 === 0) setTimeout(answer, Math.random() * 30)
    else answer()
  })
  const originPort = await listen(origin)
  const shared = cache({ maxBytes, stale: { ifUnreachable: 0 } })
  const group = upstream({ name: 'origin', targets: [`http://127.0.0.1:${originPort}`] })
  const server = createServer()
  const edge = attach(server, pipeline().wrap(shared).handle(proxy(group)))
  const port = await listen(server)
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let most = 0
  const end = performance.now() + seconds * 1000

  await Promise.all([...Array.from({ length: clients }, client), disturber()])
  agent.destroy()
  await edge.drain(0)
  await group.destroy()
  origin.closeAllConnections()
  origin.close()
  if (most > 1.1 * maxBytes) faults.push(`memory: ${most} bytes of ${maxBytes}`)
  return { faults, counts, most, entries: shared.stats().entries }

  async function client() {
    while (performance.now() < end) {
      const page = Math.floor(Math.random() ** 2 * PAGES)
      const language = LANGUAGES[Math.floor(Math.random() * 3)]
      const headers = { host: 'mix.test', 'accept-language': language }
      const dice = Math.random()
      if (dice < 0.15) {
        const first = Math.floor(Math.random() * 150)
        headers.range = `bytes=${first}-${first + Math.floor(Math.random() * 500)}`
      } else if (dice < 0.25) {
        const { varies } = kindOf(page)
        headers['if-none-match'] = `"${page}-${varies ? language : ''}-${began[page].length - 1}"`
      } else if (dice < 0.28) headers['cache-control'] = 'no-cache'
      const asked = performance.now()
      const least = floor[page]
      const got = await ask(page, 'GET', headers, Math.random() < 0.03)
      counts.requests++
      check(page, language, headers, got, asked, least)
      most = Math.max(most, shared.stats().bytes)
    }
  }

  /** Changes pages, with a purge, by an update through the edge, or silently. */
  async function disturber() {
    while (performance.now() < end) {
      await new Promise(resolve => setTimeout(resolve, 15))
      const page = Math.floor(Math.random() * PAGES)
      const dice = Math.random()
      if (dice < 0.3) {
        const { status } = await ask(page, 'PUT', { host: 'mix.test', 'content-length': '0' }, false)
        if (status !== 204) continue
        counts.updates++
      } else {
        began[page].push(performance.now())
        if (dice < 0.6) continue
        if (dice < 0.75) await shared.purge.url(`http://mix.test/${page}`)
        else if (dice < 0.9) await shared.purge.tag(`page-${page}`, { soft: false })
        else await (dice < 0.95 ? shared.purge.prefix(`http://mix.test/`) : shared.purge.all())
        counts.purges++
      }
      floor[page] = began[page].length - 1
    }
  }

  function check(page, language, headers, { status, fields, body, whole, left }, asked, least) {
    if (left) return void counts.left++
    if (!whole || status >= 500) return void counts.broken++
    const { maxAge, meanwhile, varies, size } = kindOf(page)
    const say = text =>
      faults.length < 20 && faults.push(`/${page} ${language} ${JSON.stringify(headers)}: ${status}, ${text}`)
    const version = Number(fields['x-version'] ?? /-(\d+)"$/.exec(fields.etag ?? '')?.[1])
    if (!(version >= 0)) return say('it says no version')
    if (fields.age !== undefined) counts.hits++
    if (version < least)
      say(`version ${version}, although ${least} was there when the purge or update was done`)
    const over = began[page][version + 1]
    // What it was when its successor began, plus what may be used without asking.
    const allowed = (maxAge + meanwhile) * 1000 + SLACK
    if (over !== undefined && asked - over > allowed)
      say(`version ${version} is ${asked - over} ms out of date`)
    const expected = bodyOf(page, varies ? language : '', version)
    if (status === 200) {
      if (!body.equals(expected)) say('another body')
    } else if (status === 206) {
      counts.partial++
      const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(fields['content-range']).map(Number)
      if (total !== size || !body.equals(expected.subarray(first, last + 1))) say('another part')
    } else if (status === 304) {
      counts.notModified++
      if (fields.etag !== headers['if-none-match']) say(`304 with ${fields.etag}`)
    } else say('what is that')
  }

  function ask(page, method, headers, leave) {
    return new Promise(resolve => {
      const req = request({ agent, host: '127.0.0.1', port, path: `/${page}`, method, headers })
      let left = false
      let done = false
      const settle = result => {
        if (!done) resolve({ status: 0, fields: {}, body: Buffer.alloc(0), whole: false, ...result, left })
        done = true
      }
      req.on('error', () => settle({}))
      req.on('response', res => {
        const chunks = []
        if (leave) {
          left = true
          req.destroy()
        }
        res.on('data', chunk => chunks.push(chunk))
        res.on('error', () => {})
        res.on('close', () =>
          settle({
            status: res.statusCode,
            fields: res.headers,
            body: Buffer.concat(chunks),
            whole: res.complete,
          }),
        )
      })
      req.end()
    })
  }
}

function listen(server) {
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
