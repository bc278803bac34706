// @ts-check
/**
 * A working HTTPS edge in one command: HTTP/2 and HTTP/1.1, a certificate made on the spot, the baseline of gates, a
 * rate limit and an access log, in front of a demo origin or of your own app.
 */
import { createSecureServer } from 'node:http2'
import { parseArgs } from 'node:util'
import { accessLog, attach, baseline, ConfigError, pipeline, proxy, rateLimit, upstream } from '@postern/core'
import { certificates, developmentCertificate } from '@postern/tls'
import { startDemoOrigin } from './demo-origin.mjs'

const USAGE = `usage: npm start -- [--port 8443] [--upstream http://127.0.0.1:3000]

  --port PORT      where the edge listens on this machine; 0 takes a free port (default 8443)
  --upstream URL   your app; without it a demo origin is started beside the edge
  --help           this text
`

const options = readOptions()
const demo = options.upstream === undefined ? await startDemoOrigin() : null
const target = demo?.url ?? options.upstream ?? ''
const app = upstreamFor(target)

const edge = pipeline()
  .use(accessLog())
  .use(baseline())
  .use(rateLimit({ perSecond: 50, burst: 100 }))
  .handle(proxy(app))

const pem = developmentCertificate()
// With certificates of your own: certificates({ dir: './certs' })
const tls = await certificates({ pem })
const server = createSecureServer({ ...tls.serverOptions(), allowHTTP1: true })
const attached = attach(server, edge)
tls.protect(server)

server.on('error', error => fail(listenProblem(error, options.port), 1))
// This machine only: neither the app nor its edge is meant for the network yet.
server.listen(options.port, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(introduction(`https://localhost:${port}`))
})

let stopping = false
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    if (stopping) process.exit(130)
    stop()
  })
}
// npm hands a SIGTERM to its shell alone, which ends without passing it on: that the shell is gone is the sign.
if (process.env.npm_lifecycle_event !== undefined) {
  const shell = process.ppid
  setInterval(() => {
    if (process.ppid !== shell && !stopping) stop()
  }, 500).unref()
}

async function stop() {
  stopping = true
  console.log('\nFinishing what runs, 15 seconds at most. Ctrl-C again stops at once.')
  await attached.drain()
  tls.close()
  demo?.close()
  await app.close()
  process.exit(0)
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string' }, upstream: { type: 'string' }, help: { type: 'boolean' } },
    })
    if (values.help) {
      process.stdout.write(USAGE)
      process.exit(0)
    }
    const port = Number(values.port ?? 8443)
    if (values.port === '' || !Number.isInteger(port) || port < 0 || port > 65_535) {
      throw new TypeError(`--port takes a number from 0 to 65535, not '${values.port}'`)
    }
    return { port, upstream: values.upstream }
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\n\n${USAGE}`, 2)
  }
}

/** @param {string} url */
function upstreamFor(url) {
  try {
    return upstream({ name: 'app', targets: [url] })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faults = error.faults.map(fault => `--upstream: ${fault.problem}. ${fault.fix}`)
    return fail(`${faults.join('\n')}\n\n${USAGE}`, 2)
  }
}

/** @param {NodeJS.ErrnoException} error @param {number} port */
function listenProblem(error, port) {
  const another = 'Choose another one: npm start -- --port 9443\n'
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use by another program. ${another}`
  if (error.code === 'EACCES') return `This user may not listen on port ${port}. ${another}`
  return `The edge cannot listen on port ${port}: ${error.message}\n`
}

/**
 * @param {string} message
 * @param {number} code
 * @returns {never}
 */
function fail(message, code) {
  process.stderr.write(message)
  process.exit(code)
}

/** @param {string} url */
function introduction(url) {
  const lines = demo
    ? [
        ['the page of the demo origin', `curl -k ${url}/`],
        ['what the origin sees of a request', `curl -k --http1.1 ${url}/echo`],
        ['a reply that comes drop by drop', `curl -kN ${url}/slow`],
        ['server-sent events', `curl -kN ${url}/events`],
      ]
    : [
        ['your app over HTTP/2', `curl -ki ${url}/`],
        ['your app over HTTP/1.1', `curl -ki --http1.1 ${url}/`],
      ]
  lines.push(
    ['the edge itself, alive', `curl -k ${url}/healthz`],
    ['refused by a gate: 405', `curl -ki -X TRACE ${url}/`],
    ['refused by a gate: 414', `curl -ki "${url}/?$(printf '%9000s' | tr ' ' x)"`],
  )
  const tries = lines.map(([what, command]) => `  # ${what}\n  ${command}\n`).join('')
  return `
Postern is in front of ${demo ? `the demo origin (${target})` : target}.

  ${url}/

The certificate was made a moment ago and is signed by nobody else: browsers warn, curl needs -k.
  SHA-256 ${pem.fingerprint256}

Try:
${tries}
One line of the access log a request follows. Ctrl-C stops.

`
}

// curl -ki -X TRACE https://localhost:8443/
