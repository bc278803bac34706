/** Sites by host name: exact names first, then the longest wildcard. */

/** A table of host names. `*.example.com` stands for one or more labels in front. */
export class HostTable<T> {
  readonly #exact = new Map<string, T>()
  readonly #wild = new Map<string, T>()

  get size(): number {
    return this.#exact.size + this.#wild.size
  }

  /** Adds a name; false when it is there already. */
  add(name: string, value: T): boolean {
    const [table, key] = name.startsWith('*.') ? [this.#wild, name.slice(1)] : [this.#exact, name]
    if (table.has(key)) return false
    table.set(key, value)
    return true
  }

  /** The value for a host in lower case, without port. */
  find(host: string): T | undefined {
    const exact = this.#exact.get(host)
    if (exact !== undefined || this.#wild.size === 0) return exact
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const value = this.#wild.get(host.slice(dot))
      if (value !== undefined) return value
    }
    return undefined
  }
}
