/**
 * Lets tickets of the previous key live on, by a hook of node:tls that has no documentation: it is felt for before it is
 * used, and without it old tickets cost a whole handshake.
 */
import { randomBytes } from 'node:crypto'
import type { TicketKeySet } from './keys.ts'

interface TicketContext {
  enableTicketKeyCallback?(): void
  onticketkeycallback?: (name: Buffer, iv: Buffer, encrypt: boolean) => unknown[]
}

const NOTHING = Buffer.alloc(16)

/** Installs the keys on a server's context; false when this Node has no such hook. */
export function overlapKeys(server: object, keys: TicketKeySet): boolean {
  const context = (server as { _sharedCreds?: { context?: TicketContext } })._sharedCreds?.context
  if (typeof context?.enableTicketKeyCallback !== 'function') return false
  const all = [keys.current, ...keys.previous].map(key => {
    const bytes = Buffer.from(key)
    // The order of node:tls: name, HMAC key, AES key.
    return { name: bytes.subarray(0, 16), hmac: bytes.subarray(16, 32), aes: bytes.subarray(32, 48) }
  })
  const first = all[0]!
  context.onticketkeycallback = (name, _iv, encrypt) => {
    if (encrypt) return [1, first.hmac, first.aes, first.name, randomBytes(16)]
    const found = all.find(key => key.name.equals(name))
    if (!found) return [0, NOTHING, NOTHING]
    // 2: accepted, and the client gets a new one.
    return [found === first ? 1 : 2, found.hmac, found.aes]
  }
  context.enableTicketKeyCallback()
  return true
}
