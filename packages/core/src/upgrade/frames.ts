/** Where frames of WebSocket begin and end (RFC 6455, 5.2). Nothing else of them is looked at. */

/** A close frame with 1001, going away (7.4.1), as a server sends it. */
export const GOING_AWAY: Uint8Array = Uint8Array.of(0x88, 2, 0x03, 0xe9)
/** The same as a client sends it: masked, with a key of zeros. */
export const GOING_AWAY_MASKED: Uint8Array = Uint8Array.of(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9)

const CLOSE = 8

/** Follows one direction of a WebSocket, to know whether a frame of one's own may be put in. */
export class FrameTracker {
  /** A close frame has begun: nothing may follow it. */
  closing = false
  readonly #head = new Uint8Array(14)
  #has = 0
  #needs = 2
  /** Bytes of payload that are still to come. */
  #left = 0

  /** True between two frames. */
  get between(): boolean {
    return this.#has === 0 && this.#left === 0
  }

  feed(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, bytes.length - at)
        this.#left -= step
        at += step
      } else {
        this.#head[this.#has++] = bytes[at++]!
        if (this.#has === 2) this.#needs = headLength(this.#head[1]!)
        if (this.#has === this.#needs) this.#begin()
      }
    }
  }

  #begin(): void {
    const head = this.#head
    if ((head[0]! & 15) === CLOSE) this.closing = true
    const short = head[1]! & 127
    let length = short < 126 ? short : 0
    if (short >= 126) for (let i = 2; i < (short === 126 ? 4 : 10); i++) length = length * 256 + head[i]!
    this.#left = length
    this.#has = 0
    this.#needs = 2
  }
}

function headLength(second: number): number {
  const short = second & 127
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (second & 128 ? 4 : 0)
}
