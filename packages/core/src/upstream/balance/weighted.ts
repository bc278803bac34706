/** Smooth weighted round robin: shares are kept, and the turns of a heavy target are spread. */
import type { Balancer, Candidate } from './balancer.ts'

/**
 * Each turn every target earns its share, the richest is chosen and pays what all have earned. Of weights 5, 1, 1 come
 * `a a b a c a a`, not five `a` in a row.
 */
export function weighted(): Balancer {
  return {
    pick<T extends Candidate>(ready: readonly T[]): T {
      let best = ready[0]!
      let total = 0
      for (let i = 0; i < ready.length; i++) {
        const target = ready[i]!
        const share = target.share()
        total += share
        target.credit += share
        if (target.credit > best.credit) best = target
      }
      best.credit -= total
      return best
    },
  }
}
