/** Names a client for limits. Keys of different kinds never meet, and never hold a secret in clear. */
import { createHash } from 'node:crypto'
import { assertWhole, type Rule, unchecked } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { isFieldName } from '../headers/list.ts'
import { addressKey } from '../net/address.ts'
import type { Context } from '../pipeline/contract.ts'

/** Who counts as one client. */
export interface ClientKeyOptions {
  /**
   * `'address'` (default): the client's address, IPv6 by its network. `{ header }`: the value of a header. `{ apiKey }`: the
   * same for a secret, of which only a hash is kept. A function: whatever it returns. Without a value it is the address.
   */
  by?: 'address' | { header: string } | { apiKey: string } | ((cx: Context) => string | null)
  /** Bits of an IPv6 address that name a client, 32 to 128; default 64, what one end site gets at least (RFC 6177). */
  v6Prefix?: number
}

/** Names of these options, for the tables of gates; their values are checked by {@link clientKey}. */
export const CLIENT_KEY_RULES: { readonly by: Rule; readonly v6Prefix: Rule } = {
  by: unchecked,
  v6Prefix: unchecked,
}

/** Longest value that is kept as it is. */
const PLAIN = 64
const CHOICES = "Write 'address', { header: 'X-Client' }, { apiKey: 'X-API-Key' } or a function."

/** A function that names clients. Faults of the options go to `faults`. */
export function clientKey(
  options: ClientKeyOptions,
  place: string,
  faults: ConfigFault[],
): (cx: Context) => string {
  const { by = 'address', v6Prefix = 64 } = options
  assertWhole(`${place}.v6Prefix`, v6Prefix, 32, 128, faults)
  const byAddress = (cx: Context): string => `a:${addressKey(cx.request.clientAddress, { v6Prefix })}`
  if (by === 'address') return byAddress
  if (typeof by === 'function') {
    return cx => {
      const value = by(cx)
      return typeof value === 'string' && value !== '' ? `f:${short(value)}` : byAddress(cx)
    }
  }
  // Whoever writes JavaScript may have written anything.
  const secret = typeof by === 'object' && by !== null && 'apiKey' in by
  const name = secret ? by.apiKey : (by as { header: string } | null)?.header
  const more = typeof by === 'object' && by !== null && Object.keys(by).length !== 1
  if (typeof name !== 'string' || !isFieldName(name) || more) {
    faults.push({ place: `${place}.by`, problem: 'it names no header', fix: CHOICES })
  }
  const lower = String(name).toLowerCase()
  return cx => {
    const values = cx.request.headers.all(lower)
    if (values.length === 0) return byAddress(cx)
    // The separator cannot stand in a value, so two lines never read like one.
    const value = values.join('\n')
    return secret ? `k:${digest(value)}` : `h:${short(value)}`
  }
}

/** A plain value never starts with `#`, a hashed one always does: nobody can write the hash of somebody else. */
function short(value: string): string {
  return value.length <= PLAIN && !value.startsWith('#') ? value : `#${digest(value)}`
}

/** 128 bits are plenty to tell clients apart. */
function digest(value: string): string {
  return createHash('sha256').update(value, 'utf8').digest('base64url').slice(0, 22)
}
