/** Body schemas. */
export type { JsonSchema } from './compile.ts'
export { type JsonSchemaOptions, jsonSchema } from './json-schema.ts'
export type { BodyFault } from './problem.ts'
