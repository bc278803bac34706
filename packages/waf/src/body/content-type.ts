/** `Content-Type` (RFC 9110, 8.3), read strictly: what two parsers could take apart differently is refused. */
import type { Limits } from './options.ts'
import { Refusal } from './refusal.ts'

/** A media type. */
export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly essence: string
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

/** What a body is read as. */
export type Format =
  | 'form'
  | 'multipart'
  | 'json'
  | 'json-lines'
  | 'xml'
  | 'graphql'
  | 'text'
  | 'binary'
  | 'unknown'

const TYPE = /^([!#$%&'*+\-.^_`|~\w]{1,127})\/([!#$%&'*+\-.^_`|~\w]{1,127})/
// OWS ";" OWS [ token "=" ( token / quoted-string ) ]; an empty parameter is legal (RFC 9110, 5.6.6).
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+\-.^_`|~\w]{1,64})=(?:([!#$%&'*+\-.^_`|~\w]{1,256})|"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e\x80-\xff]){0,256})"))?/y

const known = new Map<string, MediaType>()
/** Values that are remembered: clients of one site send a handful. */
const MOST_KNOWN = 256

/** Takes a value apart, or gives `null` for one that is no media type. */
export function parseMediaType(value: string): MediaType | null {
  const before = known.get(value)
  if (before !== undefined) return before
  const type = parse(value)
  // Boundaries differ with each request: only values without one are worth a place.
  if (type !== null && value.length < 128 && !type.parameters.has('boundary') && known.size < MOST_KNOWN) {
    known.set(value, type)
  }
  return type
}

function parse(value: string): MediaType | null {
  const match = TYPE.exec(value)
  if (match === null) return null
  const parameters = new Map<string, string>()
  const end = value.trimEnd().length
  let at = match[0].length
  while (at < end) {
    PARAMETER.lastIndex = at
    const parameter = PARAMETER.exec(value)
    if (parameter === null) return null
    at = PARAMETER.lastIndex
    if (parameter[1] === undefined) continue
    const name = parameter[1].toLowerCase()
    if (parameters.has(name)) return null
    parameters.set(name, parameter[2] ?? parameter[3]!.replace(/\\(.)/g, '$1'))
  }
  return { essence: match[0].toLowerCase(), parameters }
}

/** @throws Refusal for a value that is no media type, and for a charset that is not allowed. */
export function readContentType(values: readonly string[], limits: Limits): MediaType | null {
  if (values.length === 0) return null
  if (values.length > 1) {
    throw new Refusal('content-type-twice', 'header:content-type', 'more than one Content-Type')
  }
  const type = parseMediaType(values[0]!)
  if (type === null)
    throw new Refusal('content-type', 'header:content-type', 'no media type that all read alike')
  checkCharset(type, limits, 'header:content-type')
  return type
}

/** @throws Refusal for a charset that the patterns cannot read, UTF-7 or EBCDIC for example. */
export function checkCharset(type: MediaType, limits: Limits, place: string): void {
  const charset = type.parameters.get('charset')
  if (charset !== undefined && !limits.charsets.has(charset.toLowerCase())) {
    throw new Refusal('charset', place, 'a charset that is not allowed')
  }
}

const FORMATS = new Map<string, Format>([
  ['application/x-www-form-urlencoded', 'form'],
  ['multipart/form-data', 'multipart'],
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/csp-report', 'json'],
  ['application/x-ndjson', 'json-lines'],
  ['application/ndjson', 'json-lines'],
  ['application/jsonl', 'json-lines'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/graphql', 'graphql'],
  ['application/octet-stream', 'binary'],
  ['application/pdf', 'binary'],
  ['application/zip', 'binary'],
  ['application/gzip', 'binary'],
  ['application/x-gzip', 'binary'],
  ['application/x-7z-compressed', 'binary'],
  ['application/x-protobuf', 'binary'],
  ['application/protobuf', 'binary'],
  ['application/wasm', 'binary'],
])

/** How a body of this type is read. `unknown` is read as text, and as whatever else its first bytes make plausible. */
export function formatOf(type: MediaType | null): Format {
  if (type === null) return 'unknown'
  const { essence } = type
  const format = FORMATS.get(essence)
  if (format !== undefined) return format
  if (essence.endsWith('+json')) return 'json'
  if (essence.endsWith('+xml')) return 'xml'
  if (essence.startsWith('multipart/')) return 'multipart'
  if (/^(?:image|audio|video|font)\/|^application\/(?:grpc|vnd\.(?:ms-|openxmlformats))/.test(essence))
    return 'binary'
  return essence.startsWith('text/') ? 'text' : 'unknown'
}
