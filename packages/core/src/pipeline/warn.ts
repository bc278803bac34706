/** Warnings about filters that fail where nobody is left to answer: bounded in number and in what they say. */
import { printable } from '../observe/redact.ts'

/** Milliseconds between two warnings about the same thing. */
const EVERY = 60_000
/** Different things that are remembered; names come from the configuration, so that more are a mistake. */
const REMEMBERED = 1000
const warned = new Map<string, { at: number; unsaid: number }>()

/**
 * Warns that `what` failed, once a minute for each `what`, and tells how many were left out since. Name and message of
 * the cause are cut and made printable.
 */
export function warnOf(what: string, cause: unknown): void {
  const now = performance.now()
  const last = warned.get(what)
  if (last && now - last.at < EVERY) {
    last.unsaid++
    return
  }
  if (!last && warned.size >= REMEMBERED) warned.clear()
  warned.set(what, { at: now, unsaid: 0 })
  const more = last && last.unsaid > 0 ? ` (and ${last.unsaid} times more since the last warning)` : ''
  process.emitWarning(`${what} failed: ${textOf(cause)}${more}`, {
    type: 'PosternFilterWarning',
    detail: stackOf(cause),
  })
}

function textOf(cause: unknown): string {
  if (!(cause instanceof Error)) return `it gave ${cause === null ? 'null' : typeof cause} as its reason`
  return printable(`${cause.name}: ${cause.message}`, 256)
}

/** Places only: the first lines of a stack repeat the message. */
function stackOf(cause: unknown): string {
  if (!(cause instanceof Error) || typeof cause.stack !== 'string') return ''
  return cause.stack
    .slice(0, 4096)
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .slice(0, 8)
    .map(line => printable(line.trimEnd(), 256))
    .join('\n')
}
