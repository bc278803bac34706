/** Options of the filter, and their checks. */
import { ConfigError, type ConfigFault, type Context } from '@postern/core'
import type { Engine } from '../engine/types.ts'
import { compileExceptions, type RouteExceptions, type WafException } from './exceptions.ts'
import type { WafReport } from './report.ts'
import { secretPlaces } from './secrets.ts'

/** Options of the filter `waf`. */
export interface WafOptions<Field extends string = 'waf'> {
  /** `block` refuses with 403; `shadow` lets everything pass and only reports. Default `block`. */
  mode?: 'block' | 'shadow'
  /** Findings that do not count; default none. At most 1000. */
  exceptions?: readonly WafException[]
  /** Bytes of a body, as sent, that are held and looked at; 1 KiB to 64 MiB, default 1 MiB. */
  maxBody?: number
  /**
   * What happens with a longer body. `reject`: 413, before a byte of it is forwarded. `partial`: its first `maxBody`
   * bytes are looked at, and the rest passes unseen. Default `reject`. In shadow mode nothing is rejected.
   */
  pastMaxBody?: 'reject' | 'partial'
  /** State field of the report; default `waf`. Two WAFs in one pipeline need two fields. */
  as?: Field
  /** Names of fields, cookies and headers whose excerpts are redacted, besides the usual ones; default none. */
  redact?: readonly string[]
  /** Called for each request with findings or a fault of form, blocked or not. For metrics; what it throws is a warning. */
  onFindings?: (report: WafReport, cx: Context) => void
}

/** {@link WafOptions}, checked, with nothing left out. */
export interface Settings<Field extends string> {
  readonly engine: Engine
  readonly mode: 'block' | 'shadow'
  readonly exceptionsOf: (route: string) => RouteExceptions | null
  readonly maxBody: number
  readonly rejects: boolean
  readonly field: Field
  readonly isSecret: (place: string) => boolean
  readonly onFindings: ((report: WafReport, cx: Context) => void) | null
}

const NAMES = ['mode', 'exceptions', 'maxBody', 'pastMaxBody', 'as', 'redact', 'onFindings']
const LEAST_BODY = 1024
const MOST_BODY = 64 << 20

/** @throws ConfigError with every fault of the options. */
export function settle<Field extends string>(engine: Engine, options: WafOptions<Field>): Settings<Field> {
  const faults: ConfigFault[] = []
  const add = (option: string, problem: string, fix: string): void =>
    void faults.push({ place: `waf.${option}`, problem, fix })
  const { mode = 'block', maxBody = 1 << 20, pastMaxBody = 'reject', redact = [], onFindings } = options
  const field = options.as ?? ('waf' as Field)

  if (typeof engine?.inspect !== 'function')
    add('engine', 'it has no inspect()', 'Pass signatures() for example.')
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) add(name, 'there is no such option', `Choose of ${NAMES.join(', ')}.`)
  }
  if (mode !== 'block' && mode !== 'shadow') {
    add('mode', `${JSON.stringify(mode)} is no mode`, 'Choose block or shadow.')
  }
  if (pastMaxBody !== 'reject' && pastMaxBody !== 'partial') {
    add('pastMaxBody', `${JSON.stringify(pastMaxBody)} is unknown`, 'Choose reject or partial.')
  }
  if (!Number.isSafeInteger(maxBody) || maxBody < LEAST_BODY || maxBody > MOST_BODY) {
    add('maxBody', `${String(maxBody)} is no whole number from ${LEAST_BODY} to ${MOST_BODY}`, 'Write bytes.')
  }
  if (typeof field !== 'string' || !/^[A-Za-z_]\w{0,63}$/.test(field)) {
    add('as', 'it is no name of a field', 'Write a plain identifier.')
  }
  if (!Array.isArray(redact) || redact.some(name => typeof name !== 'string' || name === '')) {
    add('redact', 'it is no list of names', 'Write an array of strings.')
  }
  if (onFindings !== undefined && typeof onFindings !== 'function') {
    add(
      'onFindings',
      'it is no function',
      'Write for example report => counter.inc({ blocked: report.blocked }).',
    )
  }
  const exceptionsOf = compileExceptions(options.exceptions ?? [], 'waf.exceptions', faults)
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    engine,
    mode,
    exceptionsOf,
    maxBody,
    rejects: pastMaxBody === 'reject' && mode === 'block',
    field,
    isSecret: secretPlaces(redact),
    onFindings: onFindings ?? null,
  }
}
