/** Aids for the tests of filters, handlers and wrappers. */
export { type TestContext, type TestHead, testContext, testHead } from './context.ts'
export { bytesSource, readSource } from './source.ts'
