/**
 * 10,000 handshakes while certificates and ticket keys are swapped 100 times: `npm run build && node bench/tls-swap.mjs`.
 * `--handshakes` and `--swaps` change the numbers. Ends with code 1 when a handshake failed.
 */
import { certificates, developmentCertificate } from '@postern/tls'
import { orUsage, parseFlags, whole } from './lib/flags.mjs'
import { swapUnderHandshakes } from './lib/tls.mjs'

const plan = orUsage('usage: node bench/tls-swap.mjs [--handshakes 10000] [--swaps 100]', () => {
  const flags = parseFlags(process.argv.slice(2), { handshakes: '10000', swaps: '100' })
  return {
    handshakes: whole('handshakes', flags.handshakes, 1, 1_000_000),
    swaps: whole('swaps', flags.swaps, 0, 10_000),
  }
})
const result = await swapUnderHandshakes({ certificates, developmentCertificate }, plan)
console.log(JSON.stringify(result))
process.exit(result.failed === 0 && result.swaps === plan.swaps ? 0 : 1)
