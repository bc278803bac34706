/** Warnings about code that is not ours: told, but not for each request. */

const EVERY = 60_000
const told = new Map<string, number>()

/** Warns of `cause`, once a minute for each `what`, which comes from a fixed list. */
export function warn(what: string, cause: unknown): void {
  const now = performance.now()
  if (now - (told.get(what) ?? -EVERY) < EVERY) return
  told.set(what, now)
  const message = `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
  process.emitWarning(message, 'PosternUpstreamWarning')
}
