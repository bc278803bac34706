/** What a body processor makes of a body. */
import { Entry } from '../engine/form.ts'

/** The parts of a request body as rules see them. All strings are bytes. */
export interface ParsedBody {
  readonly args: Entry[]
  /** Field name and file name of each uploaded file. */
  readonly files: Entry[]
  /** Field name and size. */
  readonly fileSizes: Entry[]
  /** Part name and a whole header line. */
  readonly partHeaders: Entry[]
  readonly xmlText: Entry[]
  readonly xmlAttributes: Entry[]
  /** Why the body could not be read to its end; `''` when it could. */
  error: string
  /** Flags of the strict reading of multipart bodies that were raised. */
  readonly multipartFlags: Set<MultipartFlag>
  /** A percent sign without two hexadecimal digits. */
  urlEncodedError: boolean
}

export type MultipartFlag =
  | 'BOUNDARY_QUOTED'
  | 'BOUNDARY_WHITESPACE'
  | 'CRLF_LF_LINES'
  | 'DATA_AFTER'
  | 'DATA_BEFORE'
  | 'FILE_LIMIT_EXCEEDED'
  | 'HEADER_FOLDING'
  | 'INVALID_HEADER_FOLDING'
  | 'INVALID_PART'
  | 'INVALID_QUOTING'
  | 'LF_LINE'
  | 'MISSING_SEMICOLON'
  | 'UNMATCHED_BOUNDARY'

/** Limits of the processors. */
export interface BodyLimits {
  /** Arguments, JSON values, parts and XML nodes that are kept; more is an error. */
  readonly entries: number
  readonly jsonDepth: number
  readonly separator: string
  readonly files: number
}

export function emptyBody(): ParsedBody {
  return {
    args: [],
    files: [],
    fileSizes: [],
    partHeaders: [],
    xmlText: [],
    xmlAttributes: [],
    error: '',
    multipartFlags: new Set(),
    urlEncodedError: false,
  }
}

/** Adds an argument unless there are too many. */
export function addArgument(body: ParsedBody, limits: BodyLimits, key: string, value: string): boolean {
  if (body.args.length >= limits.entries) {
    body.error = `more than ${limits.entries} arguments`
    return false
  }
  body.args.push(new Entry(key, value))
  return true
}
