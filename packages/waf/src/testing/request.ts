/** Requests in one line. */
import type { InspectRequest } from '../engine/types.ts'

/** A value of a query, form or cookie. */
type Value = string | number | boolean

/** What {@link request} takes besides the request line. At most one kind of body. */
export interface RequestParts {
  /** Parameters, encoded and added to the target. An array gives one of each. */
  query?: Readonly<Record<string, Value | readonly Value[]>>
  headers?: Readonly<Record<string, string | readonly string[]>>
  /** Cookies, as they stand. */
  cookies?: Readonly<Record<string, Value>>
  /** A form: `application/x-www-form-urlencoded`. */
  form?: Readonly<Record<string, Value | readonly Value[]>>
  /** Anything that `JSON.stringify` takes: `application/json`. */
  json?: unknown
  /** `multipart/form-data`; a file is an object with a name. */
  multipart?: Readonly<Record<string, Value | UploadedFile>>
  /** A body as it stands; its type is yours to say, in `headers`. Text is sent as UTF-8. */
  body?: string | Uint8Array
}

/** A file of a multipart body. */
export interface UploadedFile {
  filename: string
  content: string | Uint8Array
  /** Default `application/octet-stream`. */
  type?: string
}

const BOUNDARY = 'postern-test-boundary'

/**
 * Builds a request for {@link inspect}.
 *
 * As a tag it takes a whole message: request line, fields, an empty line, a body. What is put into the request line is
 * percent-encoded, everything else goes in as it stands. As a function it takes the line and the parts.
 * @example request`GET /search?q=${"' or 1=1 --"}`
 * @example request('POST /notes', { json: { text: 'hello' } })
 * @throws TypeError for a line that is no method and target, and for two bodies.
 */
export function request(text: TemplateStringsArray, ...values: readonly unknown[]): InspectRequest
export function request(line: string, parts?: RequestParts): InspectRequest
export function request(first: TemplateStringsArray | string, ...rest: readonly unknown[]): InspectRequest {
  if (typeof first === 'string') return fromParts(first, (rest[0] as RequestParts | undefined) ?? {})
  return fromText(assemble(first, rest))
}

function assemble(texts: TemplateStringsArray, values: readonly unknown[]): string {
  let text = texts[0]!
  for (const [i, value] of values.entries()) {
    const inLine = !text.trimStart().includes('\n')
    text += inLine ? encodeURIComponent(String(value)) : String(value)
    text += texts[i + 1]!
  }
  return text
}

/** A message as it is written in a test: indented, with any line ends. */
function fromText(text: string): InspectRequest {
  const lines = text.replace(/^\s+/, '').split(/\r?\n/)
  const headers: [string, string][] = []
  let at = 1
  for (; at < lines.length && lines[at]!.trim() !== ''; at++) {
    const field = /^\s*([^\s:]+):\s*(.*?)\s*$/.exec(lines[at]!)
    if (field === null) throw new TypeError(`no field line: ${lines[at]}`)
    headers.push([field[1]!, bytesOf(field[2]!)])
  }
  const rest = lines.slice(at + 1)
  // Indentation of the template, not of the body.
  const indent = /^\s*/.exec(rest[0] ?? '')![0]
  const body = rest
    .map(line => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n')
    .trimEnd()
  return { ...lineOf(lines[0]!), headers, ...(body === '' ? {} : { body: Buffer.from(body) }) }
}

function fromParts(line: string, parts: RequestParts): InspectRequest {
  const { method, target } = lineOf(line)
  const headers: [string, string][] = []
  for (const [name, value] of Object.entries(parts.headers ?? {})) {
    for (const one of typeof value === 'string' ? [value] : value) headers.push([name, bytesOf(one)])
  }
  const cookies = Object.entries(parts.cookies ?? {})
  if (cookies.length > 0) {
    headers.push(['Cookie', bytesOf(cookies.map(([name, value]) => `${name}=${value}`).join('; '))])
  }
  const content = contentOf(parts)
  if (content?.type !== undefined) headers.push(['Content-Type', content.type])
  const query = parts.query === undefined ? '' : encoded(parts.query)
  const mark = query === '' ? '' : target.includes('?') ? '&' : '?'
  return {
    method,
    target: target + mark + query,
    headers,
    ...(content === null ? {} : { body: content.body }),
  }
}

function lineOf(line: string): { method: string; target: string } {
  const match = /^\s*(\S+) (\S.*?)\s*$/.exec(line)
  if (match === null) throw new TypeError(`write a method and a target, for example GET /x: ${line}`)
  // A space or a letter beyond ASCII cannot stand in a target: it is sent as browsers send it.
  const target = match[2]!.replace(/[^\x21-\x7e]+/g, text => encodeURIComponent(text))
  return { method: match[1]!, target }
}

function contentOf(parts: RequestParts): { type?: string; body: Uint8Array } | null {
  const given = (['form', 'json', 'multipart', 'body'] as const).filter(name => parts[name] !== undefined)
  if (given.length > 1) throw new TypeError(`more than one body: ${given.join(', ')}`)
  const { form, json, multipart, body } = parts
  if (form !== undefined)
    return { type: 'application/x-www-form-urlencoded', body: Buffer.from(encoded(form)) }
  if (json !== undefined) return { type: 'application/json', body: Buffer.from(JSON.stringify(json)) }
  if (multipart !== undefined)
    return { type: `multipart/form-data; boundary=${BOUNDARY}`, body: partsOf(multipart) }
  if (body === undefined) return null
  return { body: typeof body === 'string' ? Buffer.from(body) : body }
}

function encoded(fields: Readonly<Record<string, Value | readonly Value[]>>): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, String(one))
  }
  return pairs.toString()
}

function partsOf(fields: Readonly<Record<string, Value | UploadedFile>>): Uint8Array {
  const pieces: Uint8Array[] = []
  for (const [name, value] of Object.entries(fields)) {
    const file = typeof value === 'object' ? value : null
    const filename = file === null ? '' : `; filename="${quoted(file.filename)}"`
    const type = file === null ? '' : `\r\nContent-Type: ${file.type ?? 'application/octet-stream'}`
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted(name)}"${filename}${type}\r\n\r\n`
    const content = file === null ? String(value) : file.content
    pieces.push(
      Buffer.from(head),
      typeof content === 'string' ? Buffer.from(content) : content,
      Buffer.from('\r\n'),
    )
  }
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)])
}

/** As browsers do it (HTML, "multipart/form-data encoding algorithm"). */
const quoted = (text: string): string =>
  text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

/** Text as its UTF-8 bytes, one character each: how values arrive. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')
