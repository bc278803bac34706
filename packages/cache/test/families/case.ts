/** Cases in the schema of the public suite of HTTP cache tests: what an origin answers, and what a client must see of it. */

export type Field = readonly [name: string, value: string | number, check?: boolean]

export interface Exchange {
  request_method?: string
  request_body?: string
  request_headers?: readonly (readonly [string, string | number])[]
  magic_ims?: boolean
  rfc850date?: readonly string[]
  magic_locations?: boolean
  filename?: string
  query_arg?: string
  response_status?: readonly [number, string]
  response_headers?: readonly Field[]
  response_body?: string | null
  response_pause?: number
  disconnect?: boolean
  setup?: boolean
  pause_after?: boolean
  check_body?: boolean
  expected_type?: 'cached' | 'not_cached' | 'etag_validated' | 'lm_validated'
  expected_status?: number | null
  expected_method?: string
  expected_response_text?: string | null
  expected_response_headers?: readonly (string | readonly (string | number)[])[]
  expected_response_headers_missing?: readonly string[]
  expected_request_headers?: readonly (string | readonly [string, string])[]
  expected_request_headers_missing?: readonly string[]
}

export interface Case {
  id: string
  name: string
  kind: 'required' | 'optimal'
  suite: string
  runs_on_proxy: true
  requests: readonly Exchange[]
}

/** A case. Fields of responses that need not arrive unchanged end with `false`. */
export function of(suite: string, id: string, requests: readonly Exchange[]): Case {
  return { id: `${suite}: ${id}`, name: id, kind: 'required', suite, runs_on_proxy: true, requests }
}

export const DATE: Field = ['Date', 0]

/** Answered once with these fields; the same question again, at once or three seconds later. */
export function twice(
  suite: string,
  id: string,
  expected: NonNullable<Exchange['expected_type']>,
  fields: readonly Field[],
  { later = false, first = {}, second = {} }: { later?: boolean; first?: Exchange; second?: Exchange } = {},
): Case {
  return of(suite, id, [
    { setup: true, pause_after: later, response_headers: fields, ...first },
    { expected_type: expected, ...second },
  ])
}
