// @ts-check
/** Compression of replies, and an edit of pages whatever their coding. */
import { createServer } from 'node:http'
import { brotliCompressSync } from 'node:zlib'
import { attach, compress, editReplyBody, pipeline, proxy, upstream } from '@postern/core'

// An origin that compresses some of its pages by itself, and never asks whether one can read them.
const origin = createServer((req, res) => {
  res.setHeader('Content-Type', 'text/html')
  res.setHeader('ETag', '"one"')
  const page = `<h1>${req.url}</h1>${'<p>A paragraph that comes again.</p>\n'.repeat(100)}`
  if (req.url !== '/coded') return void res.end(page)
  res.setHeader('Content-Encoding', 'br')
  res.end(brotliCompressSync(page))
})
await new Promise(resolve => origin.listen(0, '127.0.0.1', () => resolve(null)))
const { port: originPort } = /** @type {import('node:net').AddressInfo} */ (origin.address())
const site = upstream({ name: 'site', targets: [`http://127.0.0.1:${originPort}`] })

/** @type {import('@postern/core').BodyTransform} */
const notice = {
  chunk: (bytes, out) => void out.write(bytes),
  end(out, trailers) {
    out.write(Buffer.from('<!-- staging -->\n'))
    out.end(trailers)
  },
}

const app = pipeline()
  .use(compress({ skip: cx => cx.request.path === '/login' }))
  .use(editReplyBody({ types: ['text/html'], transform: () => notice }))
  .handle(proxy(site))

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

// curl -si --compressed http://127.0.0.1:8080/page       Content-Encoding, Vary, ETag: W/"one", and the notice at the end
// curl -si --compressed http://127.0.0.1:8080/coded      the same for what the origin has compressed
// curl -si http://127.0.0.1:8080/page                    plain, with the notice
// curl -sI -H 'Accept-Encoding: gzip' http://127.0.0.1:8080/page     the head alone
// curl -si -H 'Accept-Encoding: gzip' http://127.0.0.1:8080/login | head -c 200    left alone: no Content-Encoding
