/** The scripts of the TLS bench, with small numbers. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { certificates, developmentCertificate } from '@postern/tls'
import { expect, it } from 'vitest'
import { swapUnderHandshakes } from './lib/tls.mjs'

it('no handshake fails while certificates and ticket keys are swapped', async () => {
  const result = await swapUnderHandshakes(
    { certificates, developmentCertificate },
    { handshakes: 400, swaps: 20 },
  )
  expect(result).toMatchObject({ handshakes: 400, failed: 0, swaps: 20 })
  // Both really happened: many certificates were seen, and tickets were taken in between.
  expect(result.certificates).toBeGreaterThan(10)
  expect(result.resumed).toBeGreaterThan(50)
})

it.each([
  ['tls-fuzz.mjs', ['--count', '1000'], /"open":0/],
  [
    'tls-handshake.mjs',
    ['--rounds', '1', '--handshakes', '5'],
    /^tls .+\n[\s\S]*^tls \+ store .+\n[\s\S]*^listen \+ ja4 .+\n$/m,
  ],
])('%s runs', (name, args, output) => {
  const program = fileURLToPath(new URL(name, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout).toMatch(output)
  expect(status).toBe(0)
})
