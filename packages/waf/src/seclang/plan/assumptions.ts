/** What a part of the plan takes for granted: values that variables of `TX` have when no rule has matched. */
import type { Entry } from '../engine/form.ts'
import type { TxVariables } from '../engine/tx-variables.ts'

export class Assumptions {
  readonly #keys: readonly string[]
  readonly #entries: readonly (Entry | undefined)[]

  /** @param expected for each variable its value, `undefined` for one that is not set. */
  constructor(expected: ReadonlyMap<string, Entry | undefined>) {
    this.#keys = [...expected.keys()]
    this.#entries = [...expected.values()]
  }

  /** The variables that they are about. */
  get keys(): readonly string[] {
    return this.#keys
  }

  get none(): boolean {
    return this.#keys.length === 0
  }

  /** Whether it is so in a transaction. */
  hold(variables: TxVariables): boolean {
    if (variables.asPlanned) return true
    for (let i = 0; i < this.#keys.length; i++) {
      const expected = this.#entries[i]
      const found = variables.get(this.#keys[i]!)
      if (found !== expected && (found === undefined || found.value !== expected?.value)) return false
    }
    return true
  }
}
