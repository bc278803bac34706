/** Runs a TypeScript program of these tests in a process of its own, on the sources: `node run.mjs PROGRAM ARGS…`. */
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const source = name => fileURLToPath(new URL(`../../../${name}/src/index.ts`, import.meta.url))
const [program = ''] = process.argv.splice(2, 1)
await runnerImport(program, {
  configFile: false,
  logLevel: 'error',
  resolve: { alias: [{ find: /^@postern\/(\w+)$/, replacement: source('$1') }] },
})
