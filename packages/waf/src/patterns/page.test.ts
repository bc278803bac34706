/**
 * docs/waf-patterns.md lists every pattern with its points. `UPDATE=1 npx vitest run packages/waf/src/patterns/page.test.ts`
 * writes the list anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { signatures } from '../engine/signatures.ts'
import { CATEGORIES } from '../engine/types.ts'
import * as index from '../index.ts'
import { assertTable, request } from '../testing/index.ts'
import { patterns } from './index.ts'
import type { Pattern } from './pattern.ts'
import { any, border, digits, edge, space } from './tokens.ts'

const PAGE = new URL('../../../../docs/waf-patterns.md', import.meta.url)
const HEADING = '## The patterns\n'

const NAMES: Readonly<Record<string, string>> = {
  sqli: 'SQL injection',
  xss: 'Cross-site scripting',
  rce: 'Command injection',
  lfi: 'Path traversal, local files',
  rfi: 'Remote files',
  ssrf: 'Requests made by the server',
  nosql: 'NoSQL injection',
  deserialisation: 'Deserialisation',
  graphql: 'GraphQL abuse',
  ldap: 'LDAP and XPath injection',
  xxe: 'XML entities and includes',
  ssti: 'Template injection',
  crlf: 'Line ends',
  lookup: 'Lookups',
  prototype: 'Prototype pollution',
  scanner: 'Scanners',
  protocol: 'Protocol',
}

function points(pattern: Pattern): string {
  const balanced = pattern.profile === 'aggressive' ? '–' : pattern.score
  return `${balanced}, ${pattern.aggressive ?? pattern.score}`
}

function list(): string {
  let text = ''
  for (const category of CATEGORIES) {
    const ours = patterns.filter(pattern => pattern.category === category)
    text += `\n### ${NAMES[category]} (\`${category}\`)\n\n| id | what a hit means | points |\n|---|---|---|\n`
    for (const pattern of ours)
      text += `| \`${pattern.id}\` | ${pattern.message.replaceAll('|', '\\|')} | ${points(pattern)} |\n`
  }
  return text
}

it('the page lists every pattern', () => {
  const page = readFileSync(PAGE, 'utf8')
  const end = page.indexOf(HEADING) + HEADING.length
  const introduction = page.indexOf('\n### ') < 0 ? page.length : page.indexOf('\n### ')
  const wanted = page.slice(0, introduction) + list()
  if (process.env.UPDATE) writeFileSync(PAGE, wanted)
  else expect(page).toBe(wanted)
  expect(end).toBeGreaterThan(HEADING.length)
})

it('the pattern of the page does what the page says', () => {
  const tool: Pattern = {
    id: 'rce-house-tool',
    category: 'rce',
    severity: 'high',
    message: 'The tool of the house is told to drop a table',
    score: 5,
    literals: ['housectl'],
    before: [any(border, ' ', ';')],
    after: [edge, space, '--drop', space, digits],
    match: ['housectl --drop 7', 'x;housectl  --drop 12'],
    pass: ['housectl', 'housectl --drop all', 'myhousectl --drop 7'],
  }
  const engine = signatures({ patterns: [tool] })
  assertTable(engine, [
    ...tool.match.map(text => [text, request('GET /', { query: { q: text } }), tool.id] as const),
    ...tool.pass.map(text => [text, request('GET /', { query: { q: text } }), 'passes'] as const),
  ])
  const page = readFileSync(PAGE, 'utf8')
  for (const text of [...tool.match, ...tool.pass]) expect(page).toContain(`'${text}'`)
})

it('the tokens of the page are exported', () => {
  const page = readFileSync(PAGE, 'utf8')
  const rows = page.slice(page.indexOf('| token |'), page.indexOf('`before` is written'))
  const names = [...rows.matchAll(/^\| (.*?) \|/gm)].flatMap(row =>
    [...row[1]!.matchAll(/`([a-z]+)[(`]/g)].map(name => name[1]!),
  )
  expect(names.length).toBeGreaterThan(12)
  for (const name of names) expect(index.token).toHaveProperty(name)
})
