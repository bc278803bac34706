// Counts a JSON report of Vitest: `node .ci/summary.mjs REPORT EXIT_CODE`. The last line is `N passed, N failed`.
// A file that could not run, and a run that broke without a failed test, count as one failure each.
import { readFileSync } from 'node:fs'

const [, , path = '', exitCode = '1'] = process.argv
const { passed, failures, skipped, broken } = count(read(path))
let failed = failures + broken

if (failed === 0 && passed === 0) {
  console.log('no test was executed')
  failed = 1
} else if (failed === 0 && exitCode !== '0') {
  console.log(`the test run ended with exit code ${exitCode} although no test failed`)
  failed = 1
}
if (skipped > 0) console.log(`${skipped} skipped`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    console.log(`there is no report of the tests: ${error.code ?? error.message}`)
    return { testResults: [] }
  }
}

function count({ testResults }) {
  const total = { passed: 0, failures: 0, skipped: 0, broken: 0 }
  for (const file of testResults) {
    let failedHere = 0
    for (const { status } of file.assertionResults) {
      if (status === 'passed') total.passed++
      else if (status === 'failed') failedHere++
      else total.skipped++
    }
    total.failures += failedHere
    if (file.status === 'failed' && failedHere === 0) total.broken++
  }
  return total
}
