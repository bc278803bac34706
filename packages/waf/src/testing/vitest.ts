/** `import '@postern/waf/testing/vitest'`: the matchers and their types, and `describeFtw`, for Vitest 3.2 and later. */
import { describe, expect, test } from 'vitest'
import { type DescribeFtw, ftwSuites } from './ftw.ts'
import { matchers, type WafMatchers } from './matchers.ts'

expect.extend(matchers)

/**
 * Runs tests of rules in the YAML of go-ftw (or as JSON lines) as suites: one a file, with a test for each of its tests. A path
 * is a file, a folder, or a pattern with `*`, `?` and `**`. Tests that only expect a status are skipped, visibly.
 * @example describeFtw(await seclang({ files: ['rules/*.conf'] }), 'tests/*.yaml')
 * @throws Error for files that are no tests, and for patterns that fit nothing.
 */
export const describeFtw: DescribeFtw = ftwSuites({ describe, test })

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the type parameter has to read as in Vitest's own declaration.
  interface Matchers<T = any> extends WafMatchers<T> {}
}
