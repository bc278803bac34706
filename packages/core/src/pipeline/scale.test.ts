/** What a large app costs the type checker: 30 filters and 200 routes in one chain. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const core = fileURLToPath(new URL('../index.ts', import.meta.url))
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const run = promisify(execFile)

/** Twice what it took when this was written. */
const BOUND = 110_000

function source(filters: number, routes: number): string {
  const lines = [`import { type App, type Filter, pipeline, reply } from '${core}'`, '']
  for (let i = 0; i < filters; i++) {
    const needs = i === 0 ? 'object' : `{ f${i - 1}: number }`
    lines.push(
      `const filter${i}: Filter<${needs}, { f${i}: number }> = { name: 'f${i}', state: () => ({ f${i}: ${i} }) }`,
    )
  }
  lines.push('', 'export const app: App = pipeline()')
  for (let i = 0; i < filters; i++) lines.push(`  .use(filter${i})`)
  for (let i = 0; i < routes; i++) {
    const state = `cx.state.f${i % filters}.toFixed()`
    lines.push(
      `  .route('GET /r${i}/:id/*rest', r => r.handle(cx => reply(200, cx.params.id + cx.params.rest + ${state})))`,
    )
  }
  return [...lines, '  .handle(cx => reply(200, cx.route))', ''].join('\n')
}

/** Checks `text` as a program, and tells how it went. */
async function check(text: string): Promise<{ output: string; instantiations: number; time: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'scale-'))
  try {
    await writeFile(`${folder}/app.mts`, text)
    const settings = {
      extends: `${root}tsconfig.base.json`,
      compilerOptions: {
        composite: false,
        allowImportingTsExtensions: true,
        rewriteRelativeImportExtensions: false,
        noEmit: true,
        typeRoots: [`${root}node_modules/@types`],
      },
      files: ['app.mts'],
    }
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify(settings))
    const output = await run(`${root}node_modules/.bin/tsc`, ['-p', folder, '--extendedDiagnostics']).then(
      done => done.stdout,
      (failed: { stdout?: string }) => failed.stdout ?? String(failed),
    )
    return {
      output,
      instantiations: Number(/^Instantiations:\s+(\d+)/m.exec(output)?.[1] ?? Number.NaN),
      time: /^Check time:\s+(\S+)/m.exec(output)?.[1] ?? '?',
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('30 filters and 200 routes in one chain compile, and cost no more than they did', async () => {
  const { output, instantiations, time } = await check(source(30, 200))
  expect(output).not.toMatch(/error TS/)
  console.log(`30 filters, 200 routes: ${instantiations} instantiations, checked in ${time}`)
  expect(instantiations).toBeGreaterThan(0)
  expect(instantiations).toBeLessThan(BOUND)
}, 120_000)

test('the check is a real one: a field that nobody adds does not compile', async () => {
  const { output } = await check(source(2, 2).replace('cx.state.f0', 'cx.state.f7'))
  expect(output).toMatch(/error TS2\d+: Property 'f7' does not exist/)
}, 120_000)
