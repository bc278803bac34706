/** A small ACME server for what Pebble lacks: renewal information, profiles, rate limits, and answers that are wrong. */
import { createPublicKey, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Server as TcpServer } from 'node:net'
import { onTestFinished } from 'vitest'
import { toPem } from '../../src/der/pem.ts'
import { derChildren, readDer } from '../../src/der/read.ts'
import { authority } from './authority.ts'
import { listen } from './servers.ts'

export interface FakeCa {
  directory: string
  ca: string
  /** Every request: method, path, decoded payload. */
  log: {
    method: string
    path: string
    payload: Record<string, unknown> | null
    header: Record<string, unknown> | null
  }[]
  orders(): Record<string, unknown>[]
  /** Life of certificates, in ms. */
  life: number
  /** What renewalInfo answers; null: 404. */
  window: { start: number; end: number } | null
  retryAfter: string
  /** Called before each answer: returns true when it has answered itself. */
  intercept: ((path: string, res: ServerResponse, payload: Record<string, unknown> | null) => boolean) | null
  /** Changes the chain before it is sent. */
  forge: ((pem: string) => string) | null
  clock: () => number
}

/** Starts one; it believes everybody. */
export async function fakeCa(): Promise<FakeCa> {
  const https = authority('Fake HTTPS')
  const issuing = authority('Fake issuing root').intermediate('Fake issuing')
  const leaf = https.issue({ names: ['localhost', '127.0.0.1'] })
  const certificates = new Map<string, string>()
  const orders = new Map<string, { names: string[]; status: string; certificate?: string }>()
  let base = ''
  let count = 0
  const made: FakeCa = {
    directory: '',
    ca: https.cert,
    log: [],
    orders: () => made.log.filter(entry => entry.path === '/order').map(entry => entry.payload!),
    life: 90 * 86_400_000,
    window: null,
    retryAfter: '3600',
    intercept: null,
    forge: null,
    clock: Date.now,
  }

  function json(
    res: ServerResponse,
    status: number,
    body: object,
    headers: Record<string, string> = {},
  ): void {
    res.writeHead(status, {
      'Content-Type': 'application/json',
      'Replay-Nonce': randomBytes(16).toString('base64url'),
      ...headers,
    })
    res.end(JSON.stringify(body))
  }
  function answer(req: IncomingMessage, res: ServerResponse, text: string): void {
    const path = req.url!
    const jws = text === '' ? null : (JSON.parse(text) as { payload: string; protected: string })
    const decode = (part: string): Record<string, unknown> | null =>
      part === '' ? null : JSON.parse(Buffer.from(part, 'base64url').toString())
    const payload = jws && decode(jws.payload)
    made.log.push({ method: req.method!, path, payload, header: jws && decode(jws.protected) })
    if (made.intercept?.(path, res, payload)) return
    const [, kind, id = ''] = path.split('/')
    const order = orders.get(id)
    if (kind === 'dir') {
      json(res, 200, {
        ...{
          newNonce: `${base}/nonce`,
          newAccount: `${base}/account`,
          newOrder: `${base}/order`,
          renewalInfo: `${base}/ari`,
        },
        meta: { profiles: { classic: 'x', shortlived: 'y' } },
      })
    } else if (kind === 'nonce') json(res, 200, {})
    else if (kind === 'account') json(res, 201, { status: 'valid' }, { Location: `${base}/account/1` })
    else if (kind === 'ari') {
      if (!made.window) return json(res, 404, { type: 'urn:ietf:params:acme:error:malformed' })
      const suggestedWindow = {
        start: new Date(made.window.start).toISOString(),
        end: new Date(made.window.end).toISOString(),
      }
      json(res, 200, { suggestedWindow }, { 'Retry-After': made.retryAfter })
    } else if (kind === 'order' && id === '') {
      const names = (payload!.identifiers as { value: string }[]).map(one => one.value)
      const next = String(++count)
      orders.set(next, { names, status: 'ready' })
      json(res, 201, shape(next), { Location: `${base}/order/${next}` })
    } else if (kind === 'order' && order) json(res, 200, shape(id))
    else if (kind === 'authz')
      json(res, 200, { status: 'valid', identifier: { type: 'dns', value: order!.names[0] }, challenges: [] })
    else if (kind === 'finalize' && order) {
      const now = made.clock()
      const publicKey = keyOf(Buffer.from(String(payload!.csr), 'base64url'))
      const signed = issuing.issue({
        names: order.names,
        from: now - 3_600_000,
        to: now + made.life,
        key: { publicKey, privateKey: leaf.privateKey },
      })
      certificates.set(id, signed.cert + issuing.cert)
      order.status = 'valid'
      order.certificate = `${base}/cert/${id}`
      json(res, 200, shape(id))
    } else if (kind === 'cert') {
      res.writeHead(200, { 'Replay-Nonce': randomBytes(16).toString('base64url') })
      res.end(made.forge ? made.forge(certificates.get(id)!) : certificates.get(id))
    } else json(res, 404, {})
  }
  const shape = (id: string): object => {
    const { names, status, certificate } = orders.get(id)!
    return {
      status,
      certificate,
      authorizations: names.map(() => `${base}/authz/${id}`),
      finalize: `${base}/finalize/${id}`,
    }
  }
  const server: Server = createServer({ key: leaf.key, cert: leaf.cert }, (req, res) => {
    let text = ''
    req.on('data', chunk => {
      text += chunk
    })
    req.on('end', () => answer(req, res, text))
  })
  const port = await listen(server as unknown as TcpServer)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  base = `https://127.0.0.1:${port}`
  made.directory = `${base}/dir`
  return made
}

/** Public key of a request (RFC 2986). */
function keyOf(csr: Buffer): ReturnType<typeof createPublicKey> {
  const [info] = derChildren(readDer(csr))
  const spki = derChildren(info!)[2]!
  return createPublicKey(toPem('PUBLIC KEY', spki.whole))
}
