// @ts-check
/**
 * An edge whose routes and upstreams come from a file. Change the file, and the next request goes by it; what runs ends as
 * it began. A file that cannot work is refused, and the edge stays as it was.
 *
 * `node examples/hot-swap.mjs [FILE]`; without a file, one is made that leads to the demo origin.
 */
import { mkdtempSync, readFileSync, watchFile, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessLog, attach, baseline, pipeline, proxy, upstream } from '@postern/core'
import { startDemoOrigin } from './demo-origin.mjs'

const file = process.argv[2] ?? (await fill())

/** The app that the file describes: `{ "upstreams": { name: [targets] }, "routes": { pattern: upstream } }`. */
function build() {
  const { upstreams, routes } = JSON.parse(readFileSync(file, 'utf8'))
  /** @type {Map<string, import('@postern/core').Upstream>} */
  const groups = new Map()
  try {
    for (const [name, targets] of Object.entries(upstreams)) groups.set(name, upstream({ name, targets }))
    let routed = pipeline().use(accessLog()).use(baseline())
    for (const [pattern, name] of Object.entries(routes)) {
      const group = groups.get(name)
      if (group === undefined) throw new Error(`route ${pattern}: there is no upstream ${name}`)
      // A pattern that comes from a file has no typed parameters.
      const path = /** @type {`/${string}`} */ (pattern)
      routed = routed.route(path, r => r.handle(proxy(group)))
    }
    return { app: routed.handle(), groups }
  } catch (error) {
    for (const group of groups.values()) group.destroy()
    throw error
  }
}

let running = build()
const server = createServer()
const edge = attach(server, running.app)

async function reload() {
  /** @type {typeof running | null} */
  let next = null
  try {
    next = build()
    // Asked before anybody is served by it: an app whose first page fails is not put in.
    const { retired } = await edge.swap(next.app, {
      check: async app => (await app.inject()).status < 500,
    })
    const old = running
    running = next
    console.log('swapped')
    await retired
    await Promise.all(Array.from(old.groups.values(), group => group.close()))
    console.log('the one before is gone')
  } catch (error) {
    console.log(`refused: ${error instanceof Error ? error.message : error}`)
    for (const group of next?.groups.values() ?? []) group.destroy()
  }
}

watchFile(file, { interval: 200 }, () => void reload())
process.on('SIGHUP', () => void reload())

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`routes in ${file}`)
  console.log(`listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', async () => {
  await edge.drain(5000)
  process.exit(0)
})

async function fill() {
  const origin = await startDemoOrigin()
  const made = join(mkdtempSync(join(tmpdir(), 'postern-hot-swap-')), 'routes.json')
  const config = { upstreams: { site: [origin.url] }, routes: { '/*': 'site' } }
  writeFileSync(made, `${JSON.stringify(config, null, 2)}\n`)
  return made
}

// curl -i http://127.0.0.1:8080/echo
// In the file that was named above, change "/*" to "/hello/*":
// curl -i http://127.0.0.1:8080/echo          404 now
