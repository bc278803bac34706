/** Peer: @fastify/http-proxy in a Fastify app without logger. */
import httpProxy from '@fastify/http-proxy'
import fastify from 'fastify'
import { peerFlags } from '../lib/peer.mjs'

const { port, origin } = peerFlags()
const app = fastify({ logger: false })
await app.register(httpProxy, { upstream: origin, undici: { connections: 128 } })
await app.listen({ port, host: '127.0.0.1' })
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
process.stdout.write('listening\n')
