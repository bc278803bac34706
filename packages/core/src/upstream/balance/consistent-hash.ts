/** Consistent hashing by rendezvous: each key prefers targets in an order of its own. */
import { addressKey } from '../../net/address.ts'
import type { Context } from '../../pipeline/contract.ts'
import { warn } from '../warn.ts'
import type { Balancer, Candidate } from './balancer.ts'
import { readCookie } from './cookie.ts'
import { hash32, mix32 } from './hash.ts'

/** What requests are told apart by. */
export type HashKey =
  | 'address'
  | { readonly header: string }
  | { readonly cookie: string }
  | ((cx: Context) => string | undefined)

/**
 * The target with the highest score for the key. When one goes, only its keys move, each to its second choice; when it comes
 * back they return. Order of the list and size of the ring do not exist. A heavier target wins in proportion to its share.
 * See Thaler and Ravishankar (1998). Requests without the key go where `otherwise` says.
 */
export function consistentHash(by: HashKey, otherwise: Balancer): Balancer {
  const keyOf = keyReader(by)
  return {
    pick<T extends Candidate>(ready: readonly T[], cx: Context | null): T {
      const key = cx === null ? undefined : keyOf(cx)
      if (key === undefined || key === '') return otherwise.pick(ready, cx)
      const hash = hash32(key)
      let best = ready[0]!
      let most = mix32(hash ^ best.seed)
      let share = best.share()
      for (let i = 1; i < ready.length; i++) {
        const target = ready[i]!
        const drawn = mix32(hash ^ target.seed)
        const own = target.share()
        // Of equal shares the higher draw wins; only unequal ones need the logarithms.
        const wins =
          own === share
            ? drawn > most || (drawn === most && target.id < best.id)
            : score(own, drawn) > score(share, most)
        if (!wins) continue
        best = target
        most = drawn
        share = own
      }
      return best
    },
  }
}

/** The chance of the highest one is in proportion to the share. `drawn` is a whole number of 32 bits. */
export function score(share: number, drawn: number): number {
  return share / Math.max(-Math.log((drawn + 1) / 0x1_0000_0000), Number.MIN_VALUE)
}

function keyReader(by: HashKey): (cx: Context) => string | undefined {
  if (by === 'address') return cx => addressKey(cx.request.clientAddress)
  if (typeof by === 'function') return cx => guarded(by, cx)
  if ('cookie' in by) return cx => readCookie(cx.request.headers, by.cookie)
  const name = by.header.toLowerCase()
  return cx => cx.request.headers.get(name)
}

/** A function that throws or gives no text must not cost the request, least of all when it is sent again. */
function guarded(by: (cx: Context) => unknown, cx: Context): string | undefined {
  try {
    const key = by(cx)
    return typeof key === 'string' ? key : undefined
  } catch (cause) {
    warn('the function of a hash throws', cause)
    return undefined
  }
}
