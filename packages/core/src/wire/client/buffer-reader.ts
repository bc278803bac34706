/**
 * Reads of a socket into one buffer that all connections share, instead of a new one of 64 KiB each time. What is read there is
 * used, or copied, before the next read of any connection; only a long body gets buffers of its own, which are given away.
 */

/** As much as Node reads at once. */
const SIZE = 65_536
/** A body of which more than this is to come is read into buffers of its own. */
const LONG = 32_768

const shared = Buffer.allocUnsafeSlow(SIZE)

/** Takes what was read. */
export interface BytesTaker {
  /** Bytes up to `to`. They are the taker's if `own`; else it keeps none of them. */
  onRead(bytes: Buffer, to: number, own: boolean): void
  /** Bytes that are still expected of the present body; 0 for none, -1 where nobody knows. */
  readonly expected: number
}

/** The `onread` option of a socket. */
export class BufferReader {
  taker: BytesTaker | null = null
  readonly buffer: () => Uint8Array
  readonly callback: (count: number, bytes: Uint8Array) => boolean

  constructor() {
    let own: Buffer | null = null
    let last = 0
    this.buffer = () => {
      const expected = this.taker?.expected ?? 0
      const long = expected > LONG || (expected < 0 && last === SIZE)
      own = long ? (own ?? Buffer.allocUnsafeSlow(SIZE)) : null
      return own ?? shared
    }
    this.callback = (count, bytes) => {
      // A small part is copied: it would keep the whole buffer alive.
      const given = bytes === own && count >= SIZE / 4
      last = count
      if (given) own = null
      this.taker?.onRead(bytes as Buffer, count, given)
      return true
    }
  }
}
