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
  const seeds = new WeakMap<Candidate, number>()
  const seedOf = (target: Candidate): number => {
    let seed = seeds.get(target)
    if (seed === undefined) seeds.set(target, (seed = hash32(target.id, 0x9747b28c)))
    return seed
  }
  return {
    pick<T extends Candidate>(ready: readonly T[], cx: Context | null): T {
      const key = cx === null ? undefined : keyOf(cx)
      if (key === undefined || key === '') return otherwise.pick(ready, cx)
      const hash = hash32(key)
      let best = ready[0]!
      let highest = -1
      for (let i = 0; i < ready.length; i++) {
        const target = ready[i]!
        // In (0, 1]; its logarithm makes the chance of the highest score proportional to the share.
        const drawn = (mix32(hash ^ seedOf(target)) + 1) / 0x1_0000_0000
        const score = target.share() / Math.max(-Math.log(drawn), Number.MIN_VALUE)
        if (score > highest || (score === highest && target.id < best.id)) {
          highest = score
          best = target
        }
      }
      return best
    },
  }
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
