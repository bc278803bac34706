/** For tests: what a reader tells of a request, as plain data. */
import type { InspectRequest, Violation } from '../../engine/types.ts'
import type { ReadOptions } from '../options.ts'
import { reader } from '../read.ts'

export interface Collected {
  /** `place=value` of each value, in order. */
  readonly values: readonly string[]
  readonly kinds: readonly string[]
  readonly sections: readonly string[]
  readonly violation: Violation | null
}

/** Reads a request whole. Text of a body is sent as UTF-8. */
export function collect(
  request: Partial<Omit<InspectRequest, 'body'>> & { body?: string | Uint8Array },
  options?: ReadOptions,
): Collected {
  const values: string[] = []
  const kinds: string[] = []
  const sections: string[] = []
  const { body, ...head } = request
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const violation = reader(options)(
    { method: 'POST', target: '/', headers: [], ...head, ...(bytes === undefined ? {} : { body: bytes }) },
    (place, value, kind) => {
      values.push(`${place}=${value}`)
      kinds.push(kind)
      sections.push(place.section)
    },
  )
  return { values, kinds, sections, violation }
}

/** The same with a body of one type. */
export function collectBody(type: string, body: string | Uint8Array, options?: ReadOptions): Collected {
  return collect({ headers: [['Content-Type', type]], body }, options)
}

/** Rule of the violation, or `null`. */
export function ruleOf(type: string, body: string | Uint8Array, options?: ReadOptions): string | null {
  return collectBody(type, body, options).violation?.rule ?? null
}
