/**
 * Watches rule files by asking for their state at intervals. That sees what notifications of the system miss or tell
 * twice: links that are swapped (as Kubernetes does it), renames over a file, network file systems.
 */
import { look } from '../rules/files.ts'
import type { Rules } from './rules.ts'

/** What came of a reload. */
export interface ReloadEvent {
  /** `null` when the new rules run; else why they don't: a RuleError with every mistake, or what the file system said. */
  readonly error: Error | null
  /** Rules that run now. */
  readonly rules: number
}

/** Changes that follow one another are waited for, this many intervals at most. */
const MOST_WAITS = 5

/** Loads anew when a file has changed and stayed so for an interval. Until `rules.close()`; it keeps no process alive. */
export function watchRules(rules: Rules, interval: number, tell: (event: ReloadEvent) => void): void {
  let running = true
  let timer: NodeJS.Timeout | null = null
  let before = ''
  let waits = 0

  const check = async (): Promise<void> => {
    const now = textOf(await look(rules.seen))
    if (!running) return
    if (now === textOf(rules.seen)) {
      waits = 0
      return
    }
    if (now !== before && waits < MOST_WAITS) {
      before = now
      waits += 1
      return
    }
    waits = 0
    const error = await rules.reload().then(
      () => null,
      (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))),
    )
    if (running) told(tell, { error, rules: rules.program.set.rules.length })
  }
  const next = (): void => {
    if (!running) return
    timer = setTimeout(() => void check().then(next, next), interval)
    timer.unref()
  }
  rules.onClose(() => {
    running = false
    if (timer !== null) clearTimeout(timer)
  })
  next()
}

function textOf(seen: ReadonlyMap<string, string>): string {
  return JSON.stringify([...seen])
}

function told(tell: (event: ReloadEvent) => void, event: ReloadEvent): void {
  try {
    tell(event)
  } catch (cause) {
    // Whoever listens decides nothing.
    process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternFilterWarning')
  }
}
