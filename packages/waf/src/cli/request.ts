/** The request of `explain`: from a file with its bytes, or from options. */
import { readFileSync } from 'node:fs'
import type { InspectReply, InspectRequest } from '../engine/types.ts'
import { parseRequest } from '../seclang/testing/wire.ts'
import { type Given, list, text } from './arguments.ts'
import { line, UsageError } from './output.ts'

/** @throws UsageError for a file that can't be read, a request that is none, and both at once. */
export function requestOf(from: Given): InspectRequest {
  const [file, ...more] = from.files
  const made = ['url', 'method', 'header', 'data', 'data-file'].some(name => from.values[name] !== undefined)
  if (more.length > 0) throw new UsageError(`one request at a time: ${line(more.join(' '))} is too much`)
  if (file !== undefined && made)
    throw new UsageError('a file holds the whole request: leave the other options out')
  return file === undefined ? fromOptions(from) : fromBytes(read(file))
}

export function read(file: string): Uint8Array {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    throw new UsageError(`${line(file)} can not be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** A request from its bytes, as a server would cut it. */
export function fromBytes(bytes: Uint8Array): InspectRequest {
  try {
    const { body, protocol, ...head } = parseRequest(bytes)
    if (!/^(?:HTTP\/\S*)?$/i.test(protocol))
      throw new Error('the first line is no request line: METHOD TARGET HTTP/1.1')
    return {
      ...head,
      ...(protocol === '' ? {} : { protocol }),
      // The last line end of an editor is no part of a request without a body.
      ...(body.length === 0 || /^[\r\n]+$/.test(Buffer.from(body).toString('latin1')) ? {} : { body }),
    }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function fromOptions(from: Given): InspectRequest {
  const url = text(from, 'url') ?? '/'
  const data = text(from, 'data')
  const file = text(from, 'data-file')
  if (data !== undefined && file !== undefined) throw new UsageError('-d and --data-file are two bodies')
  const body = data !== undefined ? Buffer.from(data) : file !== undefined ? read(file) : null
  const { host, target } = targetOf(url)
  const headers = list(from, 'header').map(fieldOf)
  const has = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name)
  if (!has('host')) headers.unshift(['Host', host])
  if (!has('user-agent')) headers.push(['User-Agent', 'postern-waf explain'])
  if (!has('accept')) headers.push(['Accept', '*/*'])
  if (body !== null) {
    if (!has('content-type')) headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
    if (!has('content-length')) headers.push(['Content-Length', String(body.length)])
  }
  const method = text(from, 'method') ?? (body === null ? 'GET' : 'POST')
  if (!/^[\x21-\x7e]+$/.test(method)) throw new UsageError(`'${line(method, 40)}' is no method`)
  return { method, target, headers, body }
}

function targetOf(url: string): { host: string; target: string } {
  const found = /^https?:\/\/([^/?#]+)(.*)$/.exec(url)
  const rest = found === null ? url : found[2]!
  if (found === null && !rest.startsWith('/')) throw new UsageError("--url begins with '/' or with http://")
  const target = rest.startsWith('/') ? rest : `/${rest}`
  // As browsers send what cannot stand in a target.
  const sent = target.replace(/[^\x21-\x7e]+/g, part => encodeURIComponent(part))
  return { host: found?.[1] ?? 'localhost', target: sent }
}

function fieldOf(field: string): [string, string] {
  const colon = field.indexOf(':')
  if (colon < 1) throw new UsageError(`-H takes 'Name: value', not '${line(field, 60)}'`)
  const bytes = (part: string): string => Buffer.from(part).toString('latin1')
  return [bytes(field.slice(0, colon)), bytes(field.slice(colon + 1).trim())]
}

/** A reply from its bytes. */
export function replyOf(bytes: Uint8Array): InspectReply {
  const text = Buffer.from(bytes).toString('latin1')
  const status = /^HTTP\/\S+ (\d{3})/.exec(text)
  if (status === null) throw new UsageError('the reply has no status line: HTTP/1.1 200 OK')
  // The same form as a request, behind another first line.
  const { headers, body } = parseRequest(Buffer.from(text.replace(/^[^\r\n]*/, 'GET / HTTP/1.1'), 'latin1'))
  return { status: Number(status[1]), headers, body }
}
