/** Reports certificates that end soon or have ended, once a day each. */
import type { TlsLog } from '../events.ts'
import type { Material } from './material.ts'

const DAY = 86_400_000

/** Remembers what it has reported. */
export class ExpiryReport {
  readonly #warnMs: number
  readonly #log: TlsLog
  #told = new Map<string, number>()

  constructor(warnMs: number, log: TlsLog) {
    this.#warnMs = warnMs
    this.#log = log
  }

  /** Looks at a set; `covered` says whether another certificate stands in for all its names. */
  look(materials: readonly Material[], now: number, covered: (material: Material) => boolean): void {
    const told = new Map<string, number>()
    for (const material of materials) {
      const before = this.#told.get(material.id)
      if (before !== undefined && now - before < DAY) {
        told.set(material.id, before)
        continue
      }
      const left = material.validTo - now
      const early = material.validFrom > now
      if ((left > this.#warnMs && !early) || covered(material)) continue
      told.set(material.id, now)
      const { source } = material
      const ends = new Date(material.validTo).toISOString()
      if (early) {
        const message = `the certificate of ${source} is not valid before ${new Date(material.validFrom).toISOString()}`
        this.#log({ level: 'error', kind: 'expired', message, source })
      } else if (left < 0) {
        this.#log({
          level: 'error',
          kind: 'expired',
          message: `the certificate of ${source} ended at ${ends}`,
          source,
        })
      } else {
        this.#log({
          level: 'warn',
          kind: 'expiring',
          message: `the certificate of ${source} ends at ${ends}`,
          source,
        })
      }
    }
    this.#told = told
  }
}
