/** Handshakes by the thousand: while certificates and ticket keys are swapped, and ClientHellos that are wrong. */
import { once } from 'node:events'
import { connect, createServer } from 'node:tls'

/**
 * Shakes hands `handshakes` times, eight at once, half of them with a ticket of an earlier one, while the store's
 * certificate and its ticket keys are swapped `swaps` times.
 * @returns how many failed, how many were resumed, and how many certificates the clients saw.
 */
export async function swapUnderHandshakes({ certificates, developmentCertificate }, { handshakes, swaps }) {
  const pool = Array.from({ length: Math.min(swaps + 1, 20) }, (_, i) =>
    developmentCertificate({ names: ['localhost', `n${i}.localhost`] }),
  )
  let current = 0
  let keys = 0
  const store = await certificates({
    load: () => [pool[current % pool.length]],
    log() {},
    tickets: {
      // "Until" in the past: asked again each second, so keys change by themselves and with every reload.
      keysAt: now => ({ current: Buffer.alloc(48, ++keys & 0xff), previous: [], until: now }),
    },
  })
  const server = createServer(store.serverOptions(), socket => {
    socket.on('error', () => {})
    socket.end('x')
  })
  store.protect(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()

  const result = { handshakes: 0, failed: 0, resumed: 0, certificates: new Set(), swaps: 0, keys: 0 }
  let session
  let started = 0
  async function client() {
    while (started < handshakes) {
      const withTicket = started++ % 2 === 1
      try {
        const shown = await handshake(port, withTicket ? session : undefined)
        session = shown.session ?? session
        result.handshakes++
        if (shown.resumed) result.resumed++
        else result.certificates.add(shown.fingerprint)
      } catch {
        result.failed++
      }
      while (
        result.swaps < swaps &&
        result.handshakes + result.failed >= ((result.swaps + 1) * handshakes) / (swaps + 1)
      ) {
        result.swaps++
        current++
        server.setTicketKeys(Buffer.alloc(48, ++keys & 0xff))
        if (!(await store.reload())) throw new Error('a reload failed')
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  result.keys = keys
  result.failed += store.counts.failed
  store.close()
  server.close()
  return { ...result, certificates: result.certificates.size }
}

function handshake(port, session) {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      rejectUnauthorized: false,
      session,
    })
    const shown = { session: undefined, resumed: false, fingerprint: '' }
    socket.on('session', made => {
      shown.session = made
    })
    socket.on('secureConnect', () => {
      shown.resumed = socket.isSessionReused()
      if (!shown.resumed) shown.fingerprint = socket.getPeerCertificate().fingerprint256
    })
    let got = ''
    socket.on('data', chunk => {
      got += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => (got === 'x' ? resolve(shown) : reject(new Error('cut'))))
  })
}
