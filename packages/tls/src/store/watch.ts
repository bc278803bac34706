/** Notices that files have changed: by the system's word where it gives one, and by looking again. */
import { type FSWatcher, watch } from 'node:fs'

/** A change is acted on after this silence, so that a key and its certificate are read together. */
const SETTLE = 200

/** A running watch. */
export interface Watching {
  close(): void
}

/**
 * Calls `changed` when `state()` gives another text than `initial` or the last one. Folders are watched for a quick
 * start; looking again every `interval` ms works on network file systems too. Holds no process open.
 */
export function watchSources(
  folders: readonly string[],
  interval: number,
  initial: string,
  state: () => Promise<string>,
  changed: () => Promise<unknown>,
): Watching {
  let last = initial
  let closed = false
  let looking = false
  let again = false
  let settle: NodeJS.Timeout | null = null
  const watchers: FSWatcher[] = []

  async function look(): Promise<void> {
    if (looking) {
      again = true
      return
    }
    looking = true
    do {
      again = false
      // What cannot be read is a change too: the reload fails, and tells what is missing.
      const now = await state().catch(() => 'unreadable')
      if (now !== last && !closed) {
        last = now
        await changed()
      }
    } while (again && !closed)
    looking = false
  }
  const soon = (): void => {
    if (closed) return
    if (settle) clearTimeout(settle)
    settle = setTimeout(() => void look(), SETTLE).unref()
  }
  const timer = setInterval(() => void look(), interval).unref()
  for (const folder of folders) {
    try {
      const watcher = watch(folder, { persistent: false }, soon)
      watcher.on('error', () => watcher.close())
      watchers.push(watcher)
    } catch {
      // No such folder, or too many watches: the timer looks.
    }
  }
  return {
    close() {
      closed = true
      clearInterval(timer)
      if (settle) clearTimeout(settle)
      for (const watcher of watchers) watcher.close()
    },
  }
}
