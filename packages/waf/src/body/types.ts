/** What the readers of a request tell whoever looks at its values. */
import type { InspectRequest, ValueKind, Violation } from '../engine/types.ts'

/** The part of a request that a value stands in. It tells which encodings a back end would undo there. */
export type Section =
  | 'path'
  | 'query'
  | 'cookie'
  | 'header'
  | 'form'
  | 'multipart'
  | 'json'
  | 'xml'
  | 'graphql'
  | 'text'

/**
 * Where a value stands. One object serves all values of a request: it is right during the call of {@link Emit}, and only then.
 * Ordinary traffic never asks for the written form, so it costs nothing there.
 */
export interface Place {
  readonly section: Section
  /** Written out: `query.id`, `header:referer`, `json.items[2].note`. Printable ASCII, at most 256 characters. */
  toString(): string
}

/**
 * Called for each value of a request, in the order in which they stand there.
 *
 * `value` has one character a byte; UTF-8 stays as its bytes. Values of `path`, `query`, `form` and `cookie` are raw: percent
 * escapes and `+` are still there. Values of `json`, `xml` and `multipart` have the format's own escapes undone.
 * `kind` is `key` for a name, `value` for what it names, `text` for running text of unknown form and contents of files.
 */
export type Emit = (place: Place, value: string, kind: ValueKind) => void

/** Reads one request. Gives the first fault of form, or `null`; a fault ends the reading of that body, not of the head. */
export type Reader = (request: InspectRequest, emit: Emit) => Violation | null
