/** What the engine takes and gives: plain strings and bytes in, findings out. No server, no socket. */

/** The families of attacks that a pattern or a structure gate can tell of. */
export const CATEGORIES = [
  'sqli',
  'xss',
  'rce',
  'lfi',
  'rfi',
  'ssrf',
  'nosql',
  'deserialisation',
  'graphql',
  'ldap',
  'xxe',
  'ssti',
  'crlf',
  'lookup',
  'prototype',
  'scanner',
  'protocol',
] as const

/** What kind of attack a pattern or rule stands for. */
export type Category = (typeof CATEGORIES)[number]

/** How bad the thing is that a pattern stands for. Says nothing of how sure the match is: that is the score. */
export type Severity = 'low' | 'medium' | 'high' | 'critical'

/** A request as plain data. Strings hold one character a byte (latin1), as they came in. */
export interface InspectRequest {
  readonly method: string
  /** Raw target in origin-form: path and query, still encoded. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: Uint8Array | null
  /** True when `body` is only the beginning of what will be forwarded: its end is no fault of form. */
  readonly bodyTruncated?: boolean
  /** Address of the client, for engines whose rules ask for it. */
  readonly clientAddress?: string
  /** `HTTP/1.1`, `HTTP/2.0`; for engines whose rules ask for it. */
  readonly protocol?: string
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
  /** Labels of the rule, for engines whose rules have them: `attack-sqli`, `paranoia-level/1`. */
  readonly tags?: readonly string[]
  /** Where the match begins in the value as the rule saw it, in bytes; for engines that can tell. */
  readonly offset?: number
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
  /** What to answer where it is not 403: a status from 300 on, with a place for a redirect. */
  readonly answer?: { readonly status: number; readonly location?: string }
}

/** A reply as rules see it; strings hold one character a byte. */
export interface InspectReply {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: Uint8Array | null
}

/**
 * One exchange in the hands of an engine that looks at each step as it comes. The steps are taken in this order; each says
 * whether the exchange is refused now. After a refusal only `end` follows.
 */
export interface Following {
  /** True once a rule has refused the exchange: after the head already, it may be. */
  readonly refused: boolean
  /** The request's body as sent; `null` when there is none. */
  requestBody(bytes: Uint8Array | null): boolean
  /** The reply's head, before any of it is sent. */
  replyHead(status: number, headers: readonly (readonly [string, string])[]): boolean
  /** Bytes of the reply's body that the engine looks at; 0 when it needs none of it. Known after `replyHead`. */
  readonly replyBodyLimit: number
  /** The reply's body, or more than `replyBodyLimit` bytes of its beginning; `null` when there is none or it isn't needed. */
  replyBody(bytes: Uint8Array | null): boolean
  /** It is over, with this answer. Once. */
  end(status: number, headers: readonly (readonly [string, string])[]): void
  /** What came of it so far. */
  inspection(): Inspection
}

/** Findings that somebody has excepted: an engine neither counts nor lists those for which this says true. */
export type Excepted = (rule: string, category: Category, place: string) => boolean

/** Looks at requests. Made once, frozen, free of state between requests. */
export interface Engine {
  readonly name: string
  inspect(request: InspectRequest, excepted?: Excepted | null): Inspection
  /** Only engines that look at replies, or at heads before bodies, have it. The request comes without its body. */
  follow?(request: InspectRequest, excepted?: Excepted | null): Following
  /** False when nothing of a reply matters to the engine: then `follow` is not called. Default true. */
  readonly looksAtReplies?: boolean
}

/**
 * What a value is to the reader that found it: `value` for a decoded scalar, `key` for a name, `text` for running text of
 * unknown form (where a hit has no value borders to rest on).
 */
export type ValueKind = 'value' | 'key' | 'text'

// Places are written out only for findings, so they are objects here: see body/types.ts, which the readers implement.
export type { Emit, Place, Reader, Section } from '../body/types.ts'
