/** Keys of session tickets (RFC 8446, 4.6.1): changed on a schedule, the same in all workers and machines that share a secret. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { type Awaitable, ConfigError, type ConfigFault } from '@postern/core'
import { assertKnown, assertMilliseconds } from '../config.ts'

/** Bytes of a key: 16 of name, 16 for HMAC, 16 for AES, as node:tls takes them. */
export const TICKET_KEY_BYTES = 48

/** The keys at a time. */
export interface TicketKeySet {
  /** 48 bytes that encrypt tickets. */
  readonly current: Uint8Array
  /** Keys whose tickets are still taken, where the store's `overlap` is on. */
  readonly previous: readonly Uint8Array[]
  /** When to ask again, in ms since 1970. */
  readonly until: number
}

/** Gives the keys. Whoever has them from somewhere else (a vault, a file that is swapped) writes one of these. */
export interface TicketKeyProvider {
  keysAt(now: number): Awaitable<TicketKeySet>
}

/** Options of {@link ticketKeys}. */
export interface TicketKeyOptions {
  /**
   * At least 32 random bytes that all workers and machines share. Keys are derived from it by HKDF-SHA256 (RFC 5869).
   * Default: random bytes of this process, so that tickets hold in it alone.
   */
  secret?: Uint8Array
  /** Life of a key, in ms; default 12 hours. A ticket that outlives it costs a whole handshake, nothing more. */
  rotateEvery?: number
}

const TWELVE_HOURS = 43_200_000

/**
 * Derives a key for each period since 1970: whoever has the secret and a clock has the same keys, without a word
 * between them. A key that leaks opens the tickets of its period only; the secret opens all.
 * @example certificates({ dir: './certs', tickets: ticketKeys({ secret: Buffer.from(process.env.TICKET_SECRET, 'base64') }) })
 * @throws ConfigError for a short secret, or a period below a minute.
 */
export function ticketKeys(options: TicketKeyOptions = {}): TicketKeyProvider {
  const faults: ConfigFault[] = []
  assertKnown('ticketKeys', options, ['secret', 'rotateEvery'], faults)
  const { secret = randomBytes(32), rotateEvery = TWELVE_HOURS } = options
  assertMilliseconds('ticketKeys.rotateEvery', rotateEvery, 60_000, faults)
  if (!(secret instanceof Uint8Array) || secret.length < 32) {
    const fix = 'Give at least 32 random bytes: openssl rand -base64 32.'
    faults.push({ place: 'ticketKeys.secret', problem: 'it is shorter than 32 bytes, or no bytes', fix })
  }
  if (faults.length > 0) throw new ConfigError(faults)

  const kept = Uint8Array.from(secret)
  const keyOf = (epoch: number): Uint8Array =>
    new Uint8Array(
      hkdfSync('sha256', kept, '', `postern session ticket key ${rotateEvery} ${epoch}`, TICKET_KEY_BYTES),
    )
  return {
    keysAt(now) {
      const epoch = Math.floor(now / rotateEvery)
      return { current: keyOf(epoch), previous: [keyOf(epoch - 1)], until: (epoch + 1) * rotateEvery }
    },
  }
}
