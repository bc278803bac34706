/** Peer: node:http and bare undici `dispatch`, the least that is still an honest HTTP proxy. */
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { developmentCertificate } from '@postern/tls'
import { Pool } from 'undici'
import { peerFlags, serve } from '../lib/peer.mjs'

const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
])

const { port, origin, tls } = peerFlags()
const pool = new Pool(origin, { connections: 128 })

const server = tls ? createSecureServer(developmentCertificate()) : createServer()
server.on('request', (req, res) => {
  let abort = null
  let resume = null
  res.on('drain', () => resume?.())
  res.on('close', () => {
    if (!res.writableFinished) abort?.(new Error('the client left'))
  })
  pool.dispatch(
    {
      path: req.url,
      method: req.method,
      headers: requestFields(req.rawHeaders),
      body: req.method === 'GET' || req.method === 'HEAD' ? null : req,
    },
    {
      onConnect(stop) {
        if (res.destroyed) stop(new Error('the client left'))
        abort = stop
      },
      onHeaders(status, raw, go) {
        if (status < 200) return true
        resume = go
        res.writeHead(status, replyFields(raw))
        return true
      },
      onData(chunk) {
        return res.write(chunk)
      },
      onComplete() {
        res.end()
      },
      onError() {
        if (res.headersSent) res.destroy()
        else res.writeHead(502).end()
      },
    },
  )
})
serve(server, port)

function requestFields(raw) {
  const fields = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].toLowerCase()
    if (!HOP_BY_HOP.has(name) && name !== 'host' && name !== 'expect') fields.push(raw[i], raw[i + 1])
  }
  return fields
}

function replyFields(raw) {
  const fields = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].latin1Slice()
    if (!HOP_BY_HOP.has(name.toLowerCase())) fields.push(name, raw[i + 1].latin1Slice())
  }
  return fields
}
