/** Wrong ClientHellos, the same for the same seed. */

/** The same message in records of `size` bytes. */
export function splitRecords(whole, size) {
  const message = whole.subarray(5)
  const records = []
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 0xff]), piece)
  }
  return Buffer.concat(records)
}

/** A hello with something wrong, the same for the same seed: bytes changed, cut, doubled, lengths blown up, records split. */
export function mutate(whole, seed) {
  let state = (seed + 1) * 2_654_435_761
  const random = below => {
    // Xorshift: the same on every machine.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  let bytes = Buffer.from(whole)
  for (let step = random(4); step >= 0; step--) {
    const at = random(bytes.length || 1)
    switch (random(8)) {
      case 0:
        bytes[at] = random(256)
        break
      case 1:
        bytes[at] = bytes[at] ^ (1 << random(8))
        break
      case 2:
        bytes = bytes.subarray(0, at)
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(40))])
        break
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 30))])
        break
      case 5:
        if (bytes.length > 60) bytes.writeUInt16BE(random(65_536), random(bytes.length - 2))
        break
      case 6:
        if (bytes.length > 5) bytes = splitRecords(bytes, 1 + random(64))
        break
      default:
        // A length of the first headers: record, message, session id, ciphers.
        bytes[[3, 4, 6, 7, 8, 43, 76, 77][random(8)]] = random(256)
    }
  }
  return bytes
}
