/** Fields that one hop alone may see (RFC 9110, 7.6.1). */
import { CONNECTION, END_TO_END, kindOf } from './names.ts'

/**
 * Names that `Connection` nominates, lower case, or `null` when there are none but `keep-alive` and `close`.
 * Only end-to-end fields can be nominated away: framing, `Host` and what the proxy writes itself stay
 * ("Connection: X-Forwarded-For" must not hide the client).
 */
export function nominatedNames(raw: readonly string[]): Set<string> | null {
  let names: Set<string> | null = null
  for (let i = 0; i < raw.length; i += 2) {
    if (kindOf(raw[i]!) !== CONNECTION) continue
    const value = raw[i + 1]!
    if (value === 'keep-alive' || value === 'close') continue
    for (const part of value.split(',')) {
      const name = part.trim().toLowerCase()
      if (name !== '' && kindOf(name) === END_TO_END) (names ??= new Set()).add(name)
    }
  }
  return names
}
