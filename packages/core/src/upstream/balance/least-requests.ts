/** The one with the least to do. */
import type { Balancer, Candidate } from './balancer.ts'

/** The target with the fewest requests under way for its share; of equals the next in turn. */
export function leastRequests(): Balancer {
  let turn = -1
  return {
    pick<T extends Candidate>(ready: readonly T[]): T {
      const { length } = ready
      turn = (turn + 1) % length
      let best = ready[turn]!
      let least = (best.inFlight + 1) / best.share()
      for (let i = 1; i < length; i++) {
        const target = ready[(turn + i) % length]!
        const load = (target.inFlight + 1) / target.share()
        if (load < least) {
          least = load
          best = target
        }
      }
      return best
    },
  }
}
