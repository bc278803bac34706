/** Checks the option `balance`. */
import type { ConfigFault } from '../../errors.ts'
import { isFieldName } from '../../headers/list.ts'
import type { Balance } from '../options.ts'
import type { Balancer } from './balancer.ts'
import { consistentHash } from './consistent-hash.ts'
import { leastRequests } from './least-requests.ts'
import { roundRobin } from './round-robin.ts'
import { twoChoices } from './two-choices.ts'
import { weighted } from './weighted.ts'

export function checkBalance(
  given: Balance | undefined,
  place: string,
  hasWeights: boolean,
  slowStart: boolean,
  faults: ConfigFault[],
): Balancer {
  const balance = given !== undefined ? given : hasWeights ? 'weighted' : 'round-robin'
  switch (balance) {
    case 'round-robin':
      if (hasWeights) {
        faults.push({
          place: `${place}.balance`,
          problem: "'round-robin' does not look at weights",
          fix: "Write 'weighted', or leave the weights out.",
        })
      }
      return slowStart ? weighted() : roundRobin()
    case 'weighted':
      return weighted()
    case 'least-requests':
      return leastRequests()
    case 'peak-ewma':
      return twoChoices()
  }
  const by = typeof balance === 'object' && balance !== null ? balance.hash : undefined
  const name = typeof by === 'object' && by !== null ? ('cookie' in by ? by.cookie : by.header) : undefined
  if (
    by === undefined ||
    (by !== 'address' && typeof by !== 'function' && !(typeof name === 'string' && isFieldName(name)))
  ) {
    faults.push({
      place: `${place}.balance`,
      problem: 'it is no way of balancing',
      fix: "Write 'round-robin', 'weighted', 'least-requests', 'peak-ewma' or { hash: 'address' | { header } | { cookie } | function }.",
    })
    return roundRobin()
  }
  return consistentHash(by, hasWeights || slowStart ? weighted() : roundRobin())
}
