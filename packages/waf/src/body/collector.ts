/** Chunks of a body until it is whole, or longer than somebody wants to look at. */

/** Takes chunks as they pass. They are not copied: nobody may change them, and nobody does. */
export class Collector {
  readonly #most: number
  #chunks: Uint8Array[] = []
  #size = 0
  #taken = false

  /** @param most bytes that are wanted */
  constructor(most: number) {
    this.#most = most
  }

  /** More came than is wanted. */
  get past(): boolean {
    return this.#size > this.#most
  }

  /** Adds a chunk, and tells whether it is time to look: the body has ended or is past the limit. True only once. */
  add(bytes: Uint8Array, end: boolean): boolean {
    if (this.#taken) return false
    if (bytes.length > 0) this.#chunks.push(bytes)
    this.#size += bytes.length
    if (!end && !this.past) return false
    this.#taken = true
    return true
  }

  /** What was wanted of the body; afterwards nothing is held any more. */
  take(): Uint8Array {
    const chunks = this.#chunks
    this.#chunks = []
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    return bytes.length > this.#most ? bytes.subarray(0, this.#most) : bytes
  }
}

/** Length that a head declares; 0 where there is none to trust, and the bytes are counted. */
export function declaredLength(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0
}
