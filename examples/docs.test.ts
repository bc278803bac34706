/** The pages say what is there: dependencies with their ranges, links that lead to files, code that compiles. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('docs/dependencies.md', () => {
  const page = text('docs/dependencies.md')
  const folders = readdirSync(join(root, 'packages')).map(name => `packages/${name}`)
  const used = new Map<string, string>()
  for (const folder of ['.', 'examples', 'bench', ...folders]) {
    const manifest: Record<string, Record<string, string> | undefined> = JSON.parse(
      text(`${folder}/package.json`),
    )
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
      for (const [name, range] of Object.entries(manifest[kind] ?? {})) {
        if (!range.startsWith('workspace:')) used.set(name, range)
      }
    }
  }
  const rows = page.split('\n').filter(line => line.startsWith('| `'))

  test.each([...used])('lists %s with its range', (name, range) => {
    const row = rows.find(line => line.split('|')[1]!.includes(`\`${name}\``))
    expect(row, `no row for ${name}`).toBeDefined()
    expect(row!.split('|')[2]).toContain(range)
  })

  test('lists nothing else', () => {
    const named = rows.flatMap(line =>
      [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(match => match[1]!),
    )
    expect(named.filter(name => !used.has(name))).toEqual([])
  })
})

describe('links between pages', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`),
  ]
  test.each(pages.filter(page => page.endsWith('.md')))('%s', page => {
    const links = [...text(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(match => match[1]!)
    const dead = links.filter(link => !existsSync(join(root, dirname(page), link)))
    expect(dead).toEqual([])
  })
})

test.each([
  ['README.md', 3],
  ['docs/tls.md', 5],
])('the code in %s compiles', async (page, count) => {
  const blocks = [...text(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(match => match[1]!)
  expect(blocks).toHaveLength(count)
  // Beside the examples, where the packages are found as a user's code finds them.
  const folder = mkdtempSync(join(root, 'examples', 'readme-'))
  try {
    for (const [index, block] of blocks.entries()) writeFileSync(join(folder, `block-${index}.ts`), block)
    const config = { extends: '../tsconfig.json', include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder]).catch(failure => failure)
    expect(stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
