/** `import '@postern/waf/testing/vitest'`: the matchers and their types, for Vitest 3.2 and later. */
import { expect } from 'vitest'
import { matchers, type WafMatchers } from './matchers.ts'

expect.extend(matchers)

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the type parameter has to read as in Vitest's own declaration.
  interface Matchers<T = any> extends WafMatchers<T> {}
}
