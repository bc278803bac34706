/** Logical lines of a rule file: comments left out, continued lines joined. */

/** A line as a directive is written on it. */
export interface LogicalLine {
  readonly text: string
  /** Physical line of its start, counted from 1. */
  readonly line: number
}

/**
 * Splits a file. A line that ends in `\` goes on with the next; blanks at the start of a continuation vanish. Empty
 * lines and comments are left out, also inside a continuation.
 */
export function logicalLines(source: string): LogicalLine[] {
  const found: LogicalLine[] = []
  let parts: string[] = []
  let start = 0
  for (const [index, physical] of source.split(/\r?\n/).entries()) {
    const trimmed = physical.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    if (parts.length === 0) start = index + 1
    const goesOn = trimmed.endsWith('\\')
    parts.push(goesOn ? trimmed.slice(0, -1) : trimmed)
    if (goesOn) continue
    found.push({ text: parts.join(''), line: start })
    parts = []
  }
  if (parts.length > 0) found.push({ text: parts.join(''), line: start })
  // A backslash alone continues nothing.
  return found.filter(({ text }) => text.trim() !== '')
}
