// @ts-check
/** An Express 5 app that carries the edge inside: some routes are its own, the rest is proxied to an older app. */
import { baseline, pipeline, proxy, rateLimit, toHandler, upstream } from '@postern/core'
import express from 'express'
import { startDemoOrigin } from './demo-origin.mjs'

const origin = await startDemoOrigin()
const older = upstream({ name: 'older-app', targets: [origin.url] })

const edge = pipeline()
  .use(baseline())
  .use(rateLimit({ perSecond: 50, burst: 100 }))
  .handle(proxy(older))

const app = express()
app.disable('x-powered-by')

app.get('/hello/:name', (req, res) => {
  res.json({ hello: req.params.name })
})
// The parser stands on the route that needs it. In front of the edge it would take the bodies that are to be forwarded.
app.post('/notes', express.json(), (req, res) => {
  res.status(201).json({ noted: req.body })
})
// Last: what no route above has answered.
app.use(toHandler(edge))

const server = app.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', error => {
  if (error) throw error
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})

// curl -i http://127.0.0.1:8081/hello/you        the app's own
// curl -i http://127.0.0.1:8081/echo -d 'a=1'    proxied, with its body
// curl -i -X TRACE http://127.0.0.1:8081/     405 of the edge
