/** Code on the pages of these pages compiles as it stands. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const PAGES = ['upstreams', 'health', 'retries', 'observability', 'rewriting', 'encodings', 'hot-swap']

test('the code in the pages compiles', async () => {
  // Beside the examples, where the packages are found as a user's code finds them.
  const folder = mkdtempSync(join(root, 'examples', 'pages-'))
  try {
    for (const page of PAGES) {
      const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8')
      const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(match => match[1]!)
      expect(blocks.length, page).toBeGreaterThan(0)
      for (const [index, block] of blocks.entries()) writeFileSync(join(folder, `${page}-${index}.ts`), block)
    }
    const config = { extends: '../tsconfig.json', include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder]).catch(failure => failure)
    expect(stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
