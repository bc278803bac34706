/** Readers: a request goes in, its values come out, each with its place. */
export { codings } from './content-coding.ts'
export { type Limits, limitsOf, type ReadOptions } from './options.ts'
export { reader } from './read.ts'
export type { Emit, Place, Reader, Section } from './types.ts'
