/** `import '@postern/waf/testing/jest'`: the matchers and their types, for Jest 29 and later. */
import { expect } from 'expect'
import { matchers, type WafMatchers } from './matchers.ts'

/** Jest has an `expect` of its own in each test file; elsewhere it is the one of the package. */
const global = globalThis as { expect?: { extend?: (more: typeof matchers) => void } }
if (typeof global.expect?.extend === 'function') global.expect.extend(matchers)
expect.extend(matchers)

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>> extends WafMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R> extends WafMatchers<R> {}
  }
}
