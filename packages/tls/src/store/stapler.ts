/** Keeps OCSP responses for stapling: from files, or asked for at half their life. */
import { createHash } from 'node:crypto'
import type { Awaitable } from '@postern/core'
import type { TlsLog } from '../events.ts'
import type { Certificate, Material } from './material.ts'
import { readStaple, type StapleWindow } from './ocsp.ts'

/** Time between two questions after one that failed, and between two looks at what is due, in ms. */
const RETRY = 600_000
const LOOK = 60_000

interface Staple extends StapleWindow {
  readonly bytes: Buffer
}

/** Where responses come from. */
export type StapleSource = ((certificate: Certificate) => Awaitable<Uint8Array | null>) | null

/** Staples of the current set of certificates. */
export class Stapler {
  readonly #source: StapleSource
  readonly #log: TlsLog
  readonly #clock: () => number
  #staples = new Map<string, Staple>()
  #due = new Map<string, number>()
  #materials: readonly Material[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(source: StapleSource, log: TlsLog, clock: () => number) {
    this.#source = source
    this.#log = log
    this.#clock = clock
    if (source) this.#timer = setInterval(() => void this.refresh(), LOOK).unref()
  }

  /** True when there is or may be something to staple. */
  get active(): boolean {
    return this.#source !== null || this.#staples.size > 0
  }

  /** Takes a new set. Responses for certificates that stay are kept. */
  use(materials: readonly Material[]): void {
    const kept = new Map<string, Staple>()
    for (const material of materials) {
      const before = this.#staples.get(material.fingerprint256)
      if (material.ocsp) this.#accept(material, material.ocsp, kept)
      if (before && !kept.has(material.fingerprint256)) kept.set(material.fingerprint256, before)
    }
    this.#staples = kept
    this.#materials = materials
    this.#due = new Map([...this.#due].filter(([id]) => kept.has(id)))
    void this.refresh()
  }

  /** The response for a certificate, DER; `null` when there is none that holds now. */
  find(certificate: Uint8Array): Buffer | null {
    if (this.#staples.size === 0) return null
    const staple = this.#staples.get(createHash('sha256').update(certificate).digest('hex'))
    const now = this.#clock()
    return staple && staple.from <= now && now < staple.to ? staple.bytes : null
  }

  /** Asks for what is due. */
  async refresh(): Promise<void> {
    if (!this.#source) return
    for (const material of this.#materials) {
      const id = material.fingerprint256
      const now = this.#clock()
      if ((this.#due.get(id) ?? 0) > now) continue
      // Set before asking, so that a slow answer is not asked for twice.
      this.#due.set(id, now + RETRY)
      try {
        const bytes = await this.#source(material)
        if (bytes === null || !this.#accept(material, bytes, this.#staples)) continue
        const { from, to } = this.#staples.get(id)!
        this.#due.set(id, Math.max(now + RETRY, from + (to - from) / 2))
      } catch (error) {
        this.#tell(material, error)
      }
    }
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#materials = []
  }

  #accept(material: Material, bytes: Uint8Array, into: Map<string, Staple>): boolean {
    try {
      const window = readStaple(bytes, material)
      if (this.#clock() >= window.to) throw new Error('it is too old')
      into.set(material.fingerprint256, { ...window, bytes: Buffer.from(bytes) })
      return true
    } catch (error) {
      this.#tell(material, error)
      return false
    }
  }

  #tell({ source }: Material, error: unknown): void {
    const message = `no OCSP response for ${source}: ${(error as Error).message}`
    this.#log({ level: 'warn', kind: 'ocsp', message, source })
  }
}
