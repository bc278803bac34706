/** Peer: httpxy with a keep-alive agent. */
import { Agent, createServer } from 'node:http'
import { createProxyServer } from 'httpxy'
import { peerFlags, serve } from '../lib/peer.mjs'

const { port, origin } = peerFlags()
const agent = new Agent({ keepAlive: true, maxSockets: 128, maxFreeSockets: 128 })
const proxy = createProxyServer({ target: origin, agent })
const server = createServer(async (req, res) => {
  try {
    await proxy.web(req, res)
  } catch {
    if (res.headersSent) res.destroy()
    else res.writeHead(502).end()
  }
})
serve(server, port)
