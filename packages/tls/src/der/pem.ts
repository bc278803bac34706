/** PEM (RFC 7468): base64 between labelled lines. */

/** A block of a PEM file. */
export interface PemBlock {
  readonly label: string
  /** From the first dash to the last, with a newline. */
  readonly text: string
}

/** Blocks that are read of one text at most. */
const MOST_BLOCKS = 1000

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----[ \t]*$/
/** Base64, and the headers of encrypted keys (RFC 1421). */
const INSIDE = /^[\w+/=:,. \t-]{0,1024}$/

/** All blocks of a text, in order. What stands between them is ignored, as RFC 7468, 2 says. One pass over its lines. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let label: string | null = null
  let lines: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const begin = BEGIN.exec(line)
    if (begin) {
      label = begin[1]!
      lines = [line.trimEnd()]
    } else if (label !== null && line.trimEnd() === `-----END ${label}-----`) {
      blocks.push({ label, text: `${lines.join('\n')}\n${line.trimEnd()}\n` })
      label = null
      if (blocks.length === MOST_BLOCKS) break
    } else if (label !== null) {
      if (INSIDE.test(line) && !line.startsWith('-----')) lines.push(line)
      else label = null
    }
  }
  return blocks
}

/** True when the text breaks off inside a block, as a file does that is still being written. */
export function breaksOff(text: string): boolean {
  const begin = text.lastIndexOf('-----BEGIN ')
  if (begin === -1) return false
  const end = text.indexOf('-----END ', begin)
  return end === -1 || text.indexOf('-----', end + 9) === -1
}

/** Writes one block with lines of 64 characters. */
export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
