/** Peer: http-proxy 1.x with a keep-alive agent. */
import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy'
import { peerFlags, serve } from '../lib/peer.mjs'

const { port, origin } = peerFlags()
const agent = new Agent({ keepAlive: true, maxSockets: 128, maxFreeSockets: 128 })
const proxy = httpProxy.createProxyServer({ target: origin, agent })
proxy.on('error', (_error, _req, res) => {
  if (res.headersSent) res.destroy()
  else res.writeHead(502).end()
})
serve(
  createServer((req, res) => proxy.web(req, res)),
  port,
)
