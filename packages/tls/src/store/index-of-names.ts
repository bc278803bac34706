/** Finds the certificate for a server name: exact names first, then a wildcard of one label (RFC 9525, 6.3). */
import type { Material } from './material.ts'

/** An immutable set of certificates. It is replaced as a whole. */
export class NameIndex {
  readonly all: readonly Material[]
  /** For clients without a server name, or with one that nobody has. */
  readonly fallback: Material | null
  readonly #exact = new Map<string, Material>()
  readonly #wild = new Map<string, Material>()

  /** `fallback` is a name; without one, the first certificate is used. */
  constructor(all: readonly Material[], fallback: string | null, now: number) {
    this.all = all
    for (const material of all) {
      for (const name of material.names) {
        const wild = name.startsWith('*.')
        const table = wild ? this.#wild : this.#exact
        const key = wild ? name.slice(1) : name
        const other = table.get(key)
        if (!other || isBetter(material, other, now)) table.set(key, material)
      }
    }
    this.fallback = (fallback === null ? all[0] : this.find(fallback)) ?? null
  }

  /** True when every name leads to the fallback: there is nothing to choose. */
  get isUniform(): boolean {
    const { fallback } = this
    for (const table of [this.#exact, this.#wild]) {
      for (const material of table.values()) if (material !== fallback) return false
    }
    return fallback !== null
  }

  /** The certificate for a name in lower case. */
  find(name: string): Material | null {
    const exact = this.#exact.get(name)
    if (exact) return exact
    const dot = name.indexOf('.')
    // A wildcard stands for exactly one label that is not empty.
    return (dot > 0 && this.#wild.get(name.slice(dot))) || null
  }
}

/** One that is valid now wins; of two, the one that lasts longer. */
function isBetter(one: Material, other: Material, now: number): boolean {
  const [first, second] = [isValid(one, now), isValid(other, now)]
  return first === second ? one.validTo > other.validTo : first
}

export function isValid(
  { validFrom, validTo }: { validFrom: number; validTo: number },
  now: number,
): boolean {
  return validFrom <= now && now <= validTo
}
