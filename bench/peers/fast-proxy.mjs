/** Peer: fast-proxy on its undici transport, the faster of its two. */
import { createServer } from 'node:http'
import fastProxy from 'fast-proxy'
import { peerFlags, serve } from '../lib/peer.mjs'

const { port, origin } = peerFlags()
const { proxy } = fastProxy({ base: origin, undici: { connections: 128 } })
serve(
  createServer((req, res) => proxy(req, res, req.url, {})),
  port,
)
