/** Parameters of one name: some back ends join their values with commas, and an attack can be cut along the seams. */

/** Names up to this number are compared one by one. */
const FEW = 16

/** Collects names and values of one list of parameters. */
export class Repeated {
  readonly #names: string[] = []
  readonly #values: string[] = []
  #places: Map<string, number> | null = null
  /** Values of names that came again. */
  #joined: Map<string, string[]> | null = null

  add(name: string, value: string): void {
    const before = this.#find(name)
    if (before === -1) {
      if (this.#places !== null) this.#places.set(name, this.#names.length)
      else if (this.#names.length === FEW)
        this.#places = new Map([...this.#names, name].map((one, i) => [one, i]))
      this.#names.push(name)
      this.#values.push(value)
      return
    }
    this.#joined ??= new Map()
    const values = this.#joined.get(name)
    if (values === undefined) this.#joined.set(name, [this.#values[before]!, value])
    else values.push(value)
  }

  /** Calls back for each name that came more than once. */
  each(tell: (name: string, joined: string) => void): void {
    if (this.#joined === null) return
    for (const [name, values] of this.#joined) tell(name, values.join(','))
  }

  #find(name: string): number {
    if (this.#places !== null) return this.#places.get(name) ?? -1
    return this.#names.indexOf(name)
  }
}
