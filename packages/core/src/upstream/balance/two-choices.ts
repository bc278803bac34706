/** Power of two choices: of two targets at random the cheaper one, by latency and load. */
import type { Balancer, Candidate } from './balancer.ts'

/** What a target costs of which no latency is known but requests are under way: it is not flooded before it answers. */
const UNKNOWN = 1000

/**
 * Costs are the peak EWMA of the latency times the requests under way, for the share of the target. Comparing two at random
 * comes close to the best of all, and herds do not form. See Mitzenmacher, "The power of two choices" (2001).
 */
export function twoChoices(
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): Balancer {
  return {
    pick<T extends Candidate>(ready: readonly T[]): T {
      const { length } = ready
      if (length === 1) return ready[0]!
      const one = Math.floor(random() * length)
      const step = 1 + Math.floor(random() * (length - 1))
      const a = ready[one]!
      const b = ready[(one + step) % length]!
      const time = now()
      return cost(b, time) < cost(a, time) ? b : a
    },
  }
}

function cost(target: Candidate, now: number): number {
  const { inFlight } = target
  const latency = target.latency.read(now)
  const each = latency === 0 && inFlight > 0 ? UNKNOWN : latency
  // The smallest latency keeps load and share in the comparison while nothing is known.
  return (Math.max(each, 0.001) * (inFlight + 1)) / target.share()
}
