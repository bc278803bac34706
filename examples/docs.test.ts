/** The pages say what is there: dependencies are listed with their ranges, links lead to files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
