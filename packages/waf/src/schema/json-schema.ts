/** A gate for routes that take JSON: the body fits the schema, or goes no further. */
import { ConfigError, type ConfigFault, type Context, type Filter, type Reply } from '@postern/core'
import { Collector, declaredLength } from '../body/collector.ts'
import { decoded } from '../body/content-coding.ts'
import { formatOf, readContentType } from '../body/content-type.ts'
import { readJson } from '../body/json/read.ts'
import { type Limits, limitsOf } from '../body/options.ts'
import { Trail } from '../body/place.ts'
import { violationOf } from '../body/refusal.ts'
import { compileSchema, type JsonSchema, namesIn, type Validate } from './compile.ts'
import { faultsOf, problem } from './problem.ts'

/** Options of {@link jsonSchema}. */
export interface JsonSchemaOptions {
  /** Bytes of a body, as sent; 64 B to 64 MiB, default 1 MiB. A longer one is answered 413. */
  maxBody?: number
  /** Faults that a reply tells, 1 to 100; default 20. */
  maxErrors?: number
  /**
   * Look for all faults instead of the first one; default false. It costs time and memory in proportion to the faults, so
   * leave it off where the body is large and the client unknown.
   */
  allErrors?: boolean
  /** A request must have a body; default true. With false, one without passes. */
  required?: boolean
  /** Schemas that `$ref` may name by their `$id`; default none. Nothing is fetched. */
  schemas?: readonly JsonSchema[]
}

const NAMES = ['maxBody', 'maxErrors', 'allErrors', 'required', 'schemas']

/**
 * Checks the JSON body of a request against a schema, before the handler runs. The schema is compiled here, strictly; its
 * draft is the one that `$schema` names, or 2020-12.
 *
 * Refused with `application/problem+json` (RFC 9457) and reason `json-schema`: 400 for a body that is missing, no strict JSON
 * (duplicate members too), or does not fit; 413 past `maxBody`, also when it is decompressed; 415 for a type that is not JSON, or a coding that is not known. The reply names places
 * and keywords of the schema and never repeats what the client wrote.
 * @example pipeline().route('POST /notes', r => r.use(jsonSchema({ type: 'object', required: ['text'] })).handle(app))
 * @throws ConfigError for a schema that does not compile, and with every fault of the options.
 */
export function jsonSchema(schema: JsonSchema, options: JsonSchemaOptions = {}): Filter {
  const { maxBody = 1 << 20, maxErrors = 20, allErrors = false, required = true, schemas = [] } = options
  const faults: ConfigFault[] = []
  const add = (option: string, problem: string, fix: string): void =>
    void faults.push({ place: `jsonSchema.${option}`, problem, fix })
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) add(name, 'there is no such option', `Choose of ${NAMES.join(', ')}.`)
  }
  wholeNumber('maxBody', maxBody, 64, 64 << 20)
  wholeNumber('maxErrors', maxErrors, 1, 100)
  if (typeof allErrors !== 'boolean') add('allErrors', 'it is no boolean', 'Write true or false.')
  if (typeof required !== 'boolean') add('required', 'it is no boolean', 'Write true or false.')
  if (!Array.isArray(schemas)) add('schemas', 'it is no list', 'Write an array of schemas.')
  const others = Array.isArray(schemas) ? schemas : []
  const validate = compileSchema(schema, others, allErrors, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const limits = limitsOf({ maxInflated: Math.max(1024, maxBody), maxString: maxBody })
  const names = namesIn([schema, ...others])
  const held = Symbol('held')
  const stateOf = (cx: Context): { [held]: Collector | null } => cx.state as never

  return {
    name: 'json-schema',
    state: () => ({ [held]: null }),
    onRequest: function checkHead(cx: Context): Reply | undefined {
      if (cx.body === null) return required ? missing() : undefined
      if (declaredLength(cx.request.headers.get('content-length')) > maxBody) return tooLarge()
      stateOf(cx)[held] = new Collector(maxBody)
      return undefined
    },
    holdBody: () => maxBody + 1,
    onRequestBody: function checkBody(cx: Context, bytes: Uint8Array, end: boolean): Reply | undefined {
      const mine = stateOf(cx)[held]
      if (mine === null || !mine.add(bytes, end)) return undefined
      if (mine.past) return tooLarge()
      const body = mine.take()
      if (body.length === 0) return required ? missing() : undefined
      return judge(cx, body, limits, validate!, found => faultsOf(found, names, maxErrors))
    },
  }

  function wholeNumber(name: string, value: number, least: number, most: number): void {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return
    add(name, `${String(value)} is no whole number from ${least} to ${most}`, 'Choose one in that range.')
  }
}

function judge(
  cx: Context,
  raw: Uint8Array,
  limits: Limits,
  validate: Validate,
  told: (errors: ReturnType<Validate>) => ReturnType<typeof faultsOf>,
): Reply | undefined {
  const { headers } = cx.request
  let bytes: Uint8Array
  try {
    const type = readContentType(headers.all('content-type'), limits)
    if (type === null || formatOf(type) !== 'json')
      return problem(415, 'The body has to be JSON', 'json-schema')
    bytes = decoded(raw, headers.all('content-encoding'), limits, false)
  } catch (thrown) {
    const { rule, message } = violationOf(thrown)
    return rule === 'coding-bomb' ? tooLarge() : problem(415, message, 'json-schema')
  }
  let value: unknown
  try {
    const trail = new Trail()
    trail.at('json')
    readJson(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
      limits,
      trail,
      () => {},
    )
    value = JSON.parse(decoder.decode(bytes))
  } catch (thrown) {
    const detail = thrown instanceof TypeError ? 'it is not UTF-8' : violationOf(thrown).message
    return problem(400, 'The body is no strict JSON', 'json-schema', [
      { pointer: '', keyword: 'syntax', detail },
    ])
  }
  const errors = validate(value)
  if (errors.length === 0) return undefined
  return problem(400, 'The body does not fit its schema', 'json-schema', told(errors))
}

const decoder = new TextDecoder('utf-8', { fatal: true })

const missing = (): Reply => problem(400, 'The request has no body', 'json-schema')
const tooLarge = (): Reply => problem(413, 'The body is too large', 'body-too-large')
