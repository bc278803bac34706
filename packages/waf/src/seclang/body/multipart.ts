import { Entry } from '../engine/form.ts'
import { addArgument, type BodyLimits, emptyBody, type MultipartFlag, type ParsedBody } from './body.ts'
import { readDisposition } from './disposition.ts'

const MAX_HEADER_BYTES = 8192
/** Header lines of a part: form data has three (RFC 7578, 4.8). */
const MAX_HEADER_LINES = 16

/**
 * Reads `multipart/form-data` (RFC 7578). What a server might read in another way raises a flag; what no server can
 * read is an error. Parts before the error stay inspected.
 */
export function readMultipart(text: string, contentType: string, limits: BodyLimits): ParsedBody {
  const body = emptyBody()
  const boundary = readBoundary(contentType, body)
  if (boundary === null) {
    body.error = 'the boundary is missing or not valid'
    return body
  }
  const reader = new Parts(text, boundary, limits, body)
  reader.read()
  return body
}

function readBoundary(contentType: string, body: ParsedBody): string | null {
  const all = [...contentType.matchAll(/;[\t ]*(boundary[\t ]*=[\t ]*(?:"([^"]*)"|([^;,"\s][^;,"]*)))/gi)]
  const found = all[0]
  if (found === undefined || all.length > 1) return null
  if (found[2] !== undefined) body.multipartFlags.add('BOUNDARY_QUOTED')
  if (/[\t ]/.test(found[1]!.trimEnd())) body.multipartFlags.add('BOUNDARY_WHITESPACE')
  const boundary = (found[2] ?? found[3]!).trimEnd()
  return boundary === '' || boundary.length > 70 ? null : boundary
}

class Parts {
  readonly #text: string
  readonly #delimiter: string
  readonly #limits: BodyLimits
  readonly #body: ParsedBody

  constructor(text: string, boundary: string, limits: BodyLimits, body: ParsedBody) {
    this.#text = text
    this.#delimiter = `--${boundary}`
    this.#limits = limits
    this.#body = body
  }

  #flag(flag: MultipartFlag): void {
    this.#body.multipartFlags.add(flag)
  }

  read(): void {
    const first = this.#next(0)
    if (first === null) {
      this.#body.error = 'there is no part'
      return
    }
    if (first.start > 0) this.#flag('DATA_BEFORE')
    let open: Delimiter = first
    while (!open.last) {
      const close = this.#next(open.end)
      this.#part(this.#text.slice(open.end, close === null ? this.#text.length : close.start))
      if (this.#body.error !== '') return
      if (close === null) {
        this.#body.error = 'the final boundary is missing'
        return
      }
      open = close
    }
    if (this.#text.slice(open.end).replace(/^\r?\n/, '') !== '') this.#flag('DATA_AFTER')
  }

  /** The next delimiter line. */
  #next(from: number): Delimiter | null {
    for (
      let at = this.#text.indexOf(this.#delimiter, from);
      at !== -1;
      at = this.#text.indexOf(this.#delimiter, at + 1)
    ) {
      if (at > 0 && this.#text[at - 1] !== '\n') continue
      const line = /^(--)?[\t ]*(\r?\n|$)/.exec(
        this.#text.slice(at + this.#delimiter.length, at + this.#delimiter.length + 80),
      )
      if (!line) {
        this.#flag('UNMATCHED_BOUNDARY')
        continue
      }
      if (line[2] === '\n') this.#flag('LF_LINE')
      const crlf = this.#text[at - 2] === '\r' ? 2 : 1
      if (at > 0 && crlf === 1) this.#flag('LF_LINE')
      // The line end before a delimiter belongs to it (RFC 2046, 5.1.1).
      const start = at === 0 ? 0 : Math.max(at - crlf, from)
      return { start, end: at + this.#delimiter.length + line[0].length, last: line[1] === '--' }
    }
    return null
  }

  #part(part: string): void {
    const found = /^(?:\r?\n)|\r?\n\r?\n/.exec(part)
    if (!found || found.index > MAX_HEADER_BYTES) {
      this.#flag('INVALID_PART')
      this.#body.error = 'the head of a part does not end'
      return
    }
    if (!found[0].startsWith('\r') || found[0].slice(1).includes('\n') !== found[0].slice(1).includes('\r\n'))
      this.#flag('LF_LINE')
    const lines = this.#headerLines(part.slice(0, found.index))
    const content = part.slice(found.index + found[0].length)
    const dispositions = lines.filter(line => /^content-disposition[\t ]*:/i.test(line))
    const disposition = dispositions[0]
    if (disposition === undefined) {
      this.#flag('INVALID_PART')
      this.#body.error = 'a part has no Content-Disposition'
      return
    }
    const fields = readDisposition(disposition.slice(disposition.indexOf(':') + 1), flag => this.#flag(flag))
    const name = fields.name ?? ''
    for (const line of lines.slice(0, MAX_HEADER_LINES)) this.#body.partHeaders.push(new Entry(name, line))
    if (lines.length > MAX_HEADER_LINES)
      fields.error ??= `a part has more than ${MAX_HEADER_LINES} header lines`
    if (dispositions.length > 1) fields.error ??= 'a part has two Content-Dispositions'
    if (fields.error !== null || fields.name === null) {
      this.#flag('INVALID_PART')
      this.#body.error = fields.error ?? 'a part has no name'
    }
    // Many servers know `filename` alone (RFC 7578, 4.2, forbids the other): for them it is a field.
    const mayBeField = !fields.filename || fields.extendedOnly
    if (mayBeField && (content !== '' || fields.filename === null))
      addArgument(this.#body, this.#limits, name, content)
    if (fields.filename !== null) this.#file(name, fields.filename, content.length)
  }

  #file(name: string, filename: string, size: number): void {
    if (this.#body.files.length >= this.#limits.files) {
      this.#flag('FILE_LIMIT_EXCEEDED')
      this.#body.error = `more than ${this.#limits.files} files`
      return
    }
    this.#body.files.push(new Entry(name, filename))
    this.#body.fileSizes.push(new Entry(name, String(size)))
  }

  /** Lines of a part's head; folded ones are joined, and flagged. */
  #headerLines(head: string): string[] {
    const lines: string[] = []
    if (head === '') return lines
    for (const line of head.split('\n')) {
      if (!line.endsWith('\r') && line !== head.slice(-line.length)) this.#flag('LF_LINE')
      const bare = line.replace(/\r$/, '')
      if (/^[\t ]/.test(bare) && lines.length > 0) {
        this.#flag('HEADER_FOLDING')
        lines[lines.length - 1] += ` ${bare.trim()}`
      } else lines.push(bare)
      if (!bare.includes(':')) {
        this.#flag('INVALID_PART')
        this.#body.error = 'a line of a part head is no header'
      }
    }
    return lines
  }
}

interface Delimiter {
  readonly start: number
  readonly end: number
  readonly last: boolean
}
