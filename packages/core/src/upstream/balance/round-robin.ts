/** In turn. */
import type { Balancer } from './balancer.ts'

/** Each target in turn; weights do not count. */
export function roundRobin(): Balancer {
  let turn = -1
  return {
    pick(ready) {
      turn = (turn + 1) % ready.length
      return ready[turn]!
    },
  }
}
