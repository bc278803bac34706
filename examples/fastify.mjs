// @ts-check
/** A Fastify 5 app that carries the edge inside: some routes are its own, the rest is proxied to an older app. */
import { baseline, pipeline, proxy, rateLimit, toHandler, upstream } from '@postern/core'
import { fastify } from 'fastify'
import { startDemoOrigin } from './demo-origin.mjs'

const origin = await startDemoOrigin()
const older = upstream({ name: 'older-app', targets: [origin.url] })

const edge = pipeline()
  .use(baseline())
  .use(rateLimit({ perSecond: 50, burst: 100 }))
  .handle(proxy(older))
const handler = toHandler(edge)

const app = fastify()
app.get('/hello/:name', async request => {
  const { name } = /** @type {{ name: string }} */ (request.params)
  return { hello: name }
})
app.post('/notes', async (request, reply) => {
  reply.code(201)
  return { noted: request.body }
})

// The proxied routes live in a scope of their own, where no parser touches a body: it is streamed to the older app.
app.register(async scope => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.all('/*', (request, reply) => {
    reply.hijack()
    handler(request.raw, reply.raw)
  })
})

const address = await app.listen({ port: Number(process.env.PORT ?? 8082), host: '127.0.0.1' })
console.log(`listening on ${address}`)

// curl -i http://127.0.0.1:8082/hello/you        the app's own
// curl -i http://127.0.0.1:8082/echo -d 'a=1'    proxied, with its body
// curl -i -X TRACE http://127.0.0.1:8082/     405 of the edge
