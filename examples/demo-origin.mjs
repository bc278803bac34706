// @ts-check
/**
 * A small origin to put behind an edge: a page, an echo, a slow stream and a stream of events.
 * The quickstart starts it; alone it runs as `node examples/demo-origin.mjs [PORT]`.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const EVENTS = 10
const DOTS = 20

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */

/** @type {Record<string, (req: Request, res: Response) => void>} */
const PAGES = {
  '/': file('index.html', 'text/html; charset=utf-8'),
  '/style.css': file('style.css', 'text/css; charset=utf-8'),
  '/page.js': file('page.js', 'text/javascript; charset=utf-8'),
  '/echo': echo,
  '/slow': slow,
  '/events': events,
}

/**
 * Starts the origin on the loopback interface. Port 0 takes a free one.
 * @param {number} [port]
 */
export async function startDemoOrigin(port = 0) {
  const server = createServer((req, res) => {
    const page = PAGES[(req.url ?? '/').split('?', 1)[0] ?? '/']
    if (page) page(req, res)
    else res.writeHead(404, { 'Content-Type': 'text/plain' }).end('The demo origin has no such page.\n')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${address.port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Read once, when the module loads.
 * @param {string} name
 * @param {string} type
 * @returns {(req: Request, res: Response) => void}
 */
function file(name, type) {
  const body = readFileSync(new URL(`demo/${name}`, import.meta.url))
  return (_req, res) => {
    res.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length }).end(body)
  }
}

/**
 * Says as JSON what arrived here, after the edge: method, target, field lines, bytes of body.
 * @param {Request} req
 * @param {Response} res
 */
function echo(req, res) {
  let bytes = 0
  req.on('data', chunk => {
    bytes += chunk.length
  })
  req.on('end', () => {
    const headers = []
    for (let i = 0; i < req.rawHeaders.length; i += 2) headers.push(req.rawHeaders.slice(i, i + 2).join(': '))
    const seen = { method: req.method, target: req.url, httpVersion: req.httpVersion, headers, bytes }
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(seen, null, 2)}\n`)
  })
}

/**
 * A dot every 250 ms: shows that nothing on the way holds a reply back.
 * @param {Request} _req
 * @param {Response} res
 */
function slow(_req, res) {
  res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
  repeat(res, DOTS, 250, () => res.write('.'))
}

/**
 * Server-sent events, one every 500 ms, ten in all. A browser that asks again after the last one gets 204, which
 * tells it to stop.
 * @param {Request} req
 * @param {Response} res
 */
function events(req, res) {
  const last = Number(req.headers['last-event-id'] ?? 0)
  const from = Number.isInteger(last) && last > 0 ? last : 0
  if (from >= EVENTS) {
    res.writeHead(204).end()
    return
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  res.flushHeaders()
  repeat(res, EVENTS - from, 500, count => {
    res.write(`id: ${from + count}\ndata: ${JSON.stringify({ event: from + count, of: EVENTS })}\n\n`)
  })
}

/**
 * @param {Response} res
 * @param {number} times
 * @param {number} pause milliseconds
 * @param {(count: number) => void} write
 */
function repeat(res, times, pause, write) {
  let count = 0
  const timer = setInterval(() => {
    write(++count)
    if (count < times) return
    clearInterval(timer)
    res.end('\n')
  }, pause)
  res.on('close', () => clearInterval(timer))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await startDemoOrigin(Number(process.argv[2] ?? 3000))
  console.log(`demo origin on ${url}`)
}

// curl http://127.0.0.1:3000/echo
