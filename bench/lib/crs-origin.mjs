/** An origin that answers any request once it has read it: `node bench/lib/crs-origin.mjs --port P`. */
import { createServer } from 'node:http'
import { orUsage, parseFlags, whole } from './flags.mjs'
import { serve } from './peer.mjs'

const port = orUsage('usage: node bench/lib/crs-origin.mjs --port P', () =>
  whole('port', parseFlags(process.argv.slice(2), { port: undefined }).port, 1, 65_535),
)
const BODY = Buffer.alloc(174, 'a')
const HEAD = { 'Content-Type': 'text/plain', 'Content-Length': BODY.length }

const server = createServer((req, res) => {
  req.resume()
  req.on('end', () => res.writeHead(200, HEAD).end(BODY))
})
server.keepAliveTimeout = 60_000
serve(server, port)
