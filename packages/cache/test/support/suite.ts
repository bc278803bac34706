/** Runs cases of the public suite's schema against an edge with a cache. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pipeline, proxy } from '@postern/core'
import { freePort } from '../../../../bench/lib/children.mjs'
import { edge, testUpstream } from '../../../core/test/support/servers.ts'
import { type CacheOptions, cache } from '../../src/index.ts'

/** Where the suite lies, with its runner; not part of a clone. */
export const suite: string = fileURLToPath(new URL('../../../../../shared/cache-tests/', import.meta.url))
export const runner: string = join(suite, 'runner.mjs')

/** Ids of the cases that fail, sorted; each failure has a second chance, for machines that do many things at once. */
export async function failuresOf(
  cases: readonly { readonly id: string }[],
  folder: string,
  options: CacheOptions,
): Promise<string[]> {
  const port = await freePort()
  const app = pipeline()
    .wrap(cache(options))
    .handle(proxy(testUpstream(`http://127.0.0.1:${port}`)))
  const { url } = await edge(app)
  const failed = await run(url, port, cases, folder)
  if (failed.length === 0) return []
  const again = cases.filter(one => failed.includes(one.id))
  return run(url, port, again, folder)
}

async function run(
  url: string,
  port: number,
  tests: readonly { readonly id: string }[],
  folder: string,
): Promise<string[]> {
  const [list, out] = ['tests', 'out'].map(name => join(folder, `${name}-${port}.json`))
  writeFileSync(list!, JSON.stringify({ tests }))
  await promisify(execFile)(process.execPath, [runner, url, String(port), out!, list!])
  const results: Record<string, true | string[]> = JSON.parse(readFileSync(out!, 'utf8'))
  return tests
    .map(one => one.id)
    .filter(id => results[id] !== true)
    .sort()
}
