/** What the engine takes and gives: plain strings and bytes in, findings out. No server, no socket. */

/** The families of attacks that a pattern or a structure gate can tell of. */
export type Category =
  | 'sqli'
  | 'xss'
  | 'rce'
  | 'lfi'
  | 'rfi'
  | 'ssrf'
  | 'nosql'
  | 'deserialisation'
  | 'graphql'
  | 'ldap'
  | 'xxe'
  | 'ssti'
  | 'crlf'
  | 'lookup'
  | 'prototype'
  | 'scanner'
  | 'protocol'

/** How bad the thing is that a pattern stands for. Says nothing of how sure the match is: that is the score. */
export type Severity = 'low' | 'medium' | 'high' | 'critical'

/** A request as plain data. Strings hold one character a byte (latin1), as they came in. */
export interface InspectRequest {
  readonly method: string
  /** Raw target in origin-form: path and query, still encoded. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: Uint8Array | null
}

/** One rule that spoke, and where. */
export interface Finding {
  /** Id of the pattern or gate, for example `sqli-union-select`. */
  readonly rule: string
  readonly category: Category
  readonly severity: Severity
  /** What it adds to the request's score. */
  readonly score: number
  /** Where in the request: `query.id`, `json.items[2].note`, `header:referer`, `multipart.file.filename`. */
  readonly place: string
  /** The text around the hit after normalisation: at most 80 characters, printable ASCII only. */
  readonly excerpt: string
  readonly message: string
}

/** A body that is refused for its form rather than its content. */
export interface Violation {
  /** Id of the structure gate, for example `json-depth`. */
  readonly rule: string
  readonly place: string
  readonly message: string
}

/** What came of one request. */
export interface Inspection {
  /** True when the score reached the threshold, or a structure gate refused the request. */
  readonly blocked: boolean
  readonly score: number
  readonly threshold: number
  readonly findings: readonly Finding[]
  readonly violation: Violation | null
}

/** Looks at requests. Made once, frozen, free of state between requests. */
export interface Engine {
  readonly name: string
  inspect(request: InspectRequest): Inspection
}

/**
 * What a reader of a request part calls for everything that it finds.
 *
 * `value` holds one character a byte, at most 0xff; UTF-8 stays as its bytes. `kind` is `value` for a decoded
 * scalar, `key` for a name, `text` for running text of unknown form (where a hit has no value borders to rest on).
 */
export type Emit = (place: string, value: string, kind: ValueKind) => void

export type ValueKind = 'value' | 'key' | 'text'
