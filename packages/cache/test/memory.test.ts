/** The bound is about the process's memory, not about a sum of its own. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test.each([1000, 50_000])(
  'bodies of %i bytes: at most a tenth above the bound',
  { timeout: 300_000 },
  async size => {
    const program = fileURLToPath(new URL('memory.mjs', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, String(size)])
    const { ratio, accounted, entries, count } = JSON.parse(stdout)
    expect(accounted).toBeLessThanOrEqual(1)
    expect(ratio).toBeLessThan(1.1)
    // It is full, and has let go of what did not fit.
    expect(accounted).toBeGreaterThan(0.9)
    expect(entries).toBeLessThan(count)
  },
)
