/** A JSON Schema becomes a function, once. */
import type { ConfigFault } from '@postern/core'
import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** A JSON Schema: an object or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** Gives the faults of a value; empty when it fits. */
export type Validate = (value: unknown) => readonly ErrorObject[]

/** Which draft `$schema` names. */
function draftOf(schema: JsonSchema): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  const uri = typeof schema === 'object' && typeof schema.$schema === 'string' ? schema.$schema : ''
  if (uri.includes('draft-07') || uri.includes('draft-06')) return Ajv
  return uri.includes('2019-09') ? Ajv2019 : Ajv2020
}

/** Compiles strictly: an unknown keyword or format is a fault, not a comment. Gives `null` after a fault. */
export function compileSchema(
  schema: JsonSchema,
  others: readonly JsonSchema[],
  allErrors: boolean,
  faults: ConfigFault[],
): Validate | null {
  const options: Options = { strict: true, allErrors, logger: false, validateFormats: true }
  try {
    if (typeof schema === 'object' && schema.$async !== undefined) throw new Error('$async is not supported')
    const Draft = draftOf(schema)
    const ajv = new Draft(options)
    formats.default(ajv as never)
    for (const other of others) ajv.addSchema(other as object)
    const validate = ajv.compile(schema as object)
    return value => (validate(value) ? NONE : (validate.errors ?? NONE))
  } catch (error) {
    faults.push({
      place: 'jsonSchema.schema',
      problem: error instanceof Error ? error.message : String(error),
      fix: 'Write it for draft 2020-12, 2019-09 or draft-07, and name the draft in $schema.',
    })
    return null
  }
}

const NONE: readonly ErrorObject[] = []

/** Names of members that schemas speak of: only these are repeated to a client. */
export function namesIn(schemas: readonly unknown[]): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<object>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    const { properties } = value as { properties?: unknown }
    if (typeof properties === 'object' && properties !== null) {
      for (const name of Object.keys(properties)) names.add(name)
    }
    for (const inner of Object.values(value)) walk(inner)
  }
  for (const schema of schemas) walk(schema)
  return names
}
