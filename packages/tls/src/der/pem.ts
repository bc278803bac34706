/** PEM (RFC 7468): base64 between labelled lines. */

/** A block of a PEM file. */
export interface PemBlock {
  readonly label: string
  /** From the first dash to the last, with a newline. */
  readonly text: string
}

/** Blocks that are read of one text at most. */
const MOST_BLOCKS = 1000

/** All blocks of a text, in order. What stands between them is ignored, as RFC 7468, 2 says. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  const pattern = /-----BEGIN ([A-Z0-9 ]{1,64})-----\r?\n[\w+/=\s:,.-]*?-----END \1-----/g
  for (const match of text.matchAll(pattern)) {
    if (blocks.length === MOST_BLOCKS) break
    blocks.push({ label: match[1]!, text: `${match[0]}\n` })
  }
  return blocks
}

/** Writes one block with lines of 64 characters. */
export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
