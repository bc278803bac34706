/** Faults of a body as a problem document (RFC 9457): what is wrong and where, never what the client wrote. */
import { HeaderList, type Reply, reply } from '@postern/core'
import type { ErrorObject } from 'ajv'

/** One fault of a body. */
export interface BodyFault {
  /** JSON Pointer (RFC 6901). Names that the schema does not know are written `*`. At most 256 characters. */
  readonly pointer: string
  /** Keyword of the schema that does not fit; `syntax` for a body that is no JSON. */
  readonly keyword: string
  /** What would fit, in the schema's words. At most 200 characters. */
  readonly detail: string
}

const MOST_POINTER = 256
const MOST_DETAIL = 200

/** The faults that a client is told, at most `most`. */
export function faultsOf(
  errors: readonly ErrorObject[],
  names: ReadonlySet<string>,
  most: number,
): BodyFault[] {
  return errors.slice(0, most).map(({ instancePath, keyword, message }) => ({
    pointer: pointerOf(instancePath, names),
    keyword,
    detail: cut(message ?? 'does not fit', MOST_DETAIL),
  }))
}

function pointerOf(path: string, names: ReadonlySet<string>): string {
  const steps = path
    .slice(0, 4 * MOST_POINTER)
    .split('/')
    .map(step => (step === '' || /^\d{1,9}$/.test(step) || names.has(unescapedStep(step)) ? step : '*'))
  return cut(steps.join('/'), MOST_POINTER)
}

const unescapedStep = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text

/** A reply of `application/problem+json` with `type` about:blank, `title`, `status` and, for faults of a body, `errors`. */
export function problem(
  status: number,
  title: string,
  reason: string,
  errors: readonly BodyFault[] = [],
  fields: Readonly<Record<string, string>> = {},
): Reply {
  const document = { type: 'about:blank', title, status, ...(errors.length > 0 ? { errors } : {}) }
  const headers = HeaderList.from({
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...fields,
  })
  return reply(status, `${JSON.stringify(document)}\n`, { headers, reason })
}
