// @ts-check
/** Spans of requests and attempts, with the SDK of OpenTelemetry; here they stay in memory, and a page tells them. */
import { createServer } from 'node:http'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { accessLog, attach, baseline, pipeline, proxy, reply, upstream } from '@postern/core'
import { openTelemetry } from '@postern/core/opentelemetry'

// In earnest: an exporter for your collector, behind a BatchSpanProcessor.
const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)

const origin = createServer((req, res) => res.end(`the origin's parent: ${req.headers.traceparent}\n`))
await new Promise(resolve => origin.listen(0, '127.0.0.1', () => resolve(null)))
const { port: originPort } = /** @type {import('node:net').AddressInfo} */ (origin.address())

// Nothing listens on the first target: some requests need a second attempt.
const site = upstream({ name: 'site', targets: ['http://127.0.0.1:9', `http://127.0.0.1:${originPort}`] })

const app = pipeline()
  .use(openTelemetry({ skip: cx => cx.request.path === '/spans' }))
  .use(accessLog())
  .use(baseline({ traceContext: false }))
  .route('GET /spans', r => r.handle(() => reply(200, told())))
  .route('GET /users/:id', r => r.handle(proxy(site)))
  .handle(proxy(site))

function told() {
  return exporter
    .getFinishedSpans()
    .map(
      ({ kind, name, attributes }) =>
        `${kind === 1 ? 'SERVER' : 'CLIENT'} ${name} ${JSON.stringify(attributes)}\n`,
    )
    .join('')
}

const server = createServer()
const attached = attach(server, app)
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', async () => {
  await attached.drain(5000)
  process.exit(0)
})

// curl -s 'http://127.0.0.1:8080/users/7?token=secret'     the id of the client span, as the origin sees it
// curl -s http://127.0.0.1:8080/users/8                    the next one
// curl -s http://127.0.0.1:8080/spans                      what was told: a server span a request, a client span an attempt
