/** The head of a request as bytes: this hop's own framing, and nothing that could be read as something else. */
import { ProxyError } from '../../errors.ts'
import { isFieldName, isFieldValue } from '../../headers/list.ts'
import {
  CONNECTION,
  CONTENT_LENGTH,
  END_TO_END,
  EXPECT,
  HOP_BY_HOP,
  HOST,
  kindOf,
  TRANSFER_ENCODING,
  UPGRADE,
} from '../../headers/names.ts'
import type { OutgoingRequest } from '../../upstream/connector.ts'

/** A name that has been checked, as it stands in a line. */
interface NameLine {
  readonly text: string
  readonly kind: number
}

const REMEMBERED = 2048
const known = new Map<string, NameLine>()

/** One character a byte, no controls, no space: it cannot end the line it stands in. */
const TARGET = /^(?:\/[\x21-\x7e\x80-\xff]*|\*)$/

/** What has to be known of a request besides its bytes. */
export interface RequestHead {
  readonly text: string
  /** The body is sent in chunks. */
  readonly chunked: boolean
  /** The body waits for `100 Continue`. */
  readonly expects: boolean
}

/**
 * The head with `Host` first. `Content-Length` and `Transfer-Encoding` are what the body says, whatever the fields do.
 * @throws ProxyError `bad-forward` for a method, target, name or value that is none.
 */
export function requestHead(request: OutgoingRequest): RequestHead {
  const { method, target, headers, body, upgrade } = request
  if ((method !== 'GET' && !isFieldName(method)) || method === 'CONNECT' || !TARGET.test(target))
    throw unsendable()
  let host = ''
  let fields = ''
  let length = body === null && (method === 'POST' || method === 'PUT' || method === 'PATCH')
  let expects = false
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1]!
    const name = nameLine(headers[i]!)
    // What is no string could be another one each time it is read.
    if (typeof value !== 'string' || !isFieldValue(value)) throw unsendable()
    switch (name.kind) {
      case HOST:
        if (host !== '') throw unsendable()
        host = `Host: ${value}\r\n`
        continue
      case CONTENT_LENGTH:
        length = true
        continue
      case TRANSFER_ENCODING:
      case HOP_BY_HOP:
        continue
      case CONNECTION:
      case UPGRADE:
        if (upgrade === undefined) continue
        break
      case EXPECT:
        if (body === null) continue
        expects = true
        break
    }
    fields += name.text
    fields += value
    fields += '\r\n'
  }
  const chunked = body !== null && body.length === null
  if (body !== null && !chunked && !(Number.isSafeInteger(body.length) && body.length! >= 0))
    throw unsendable()
  const framing = chunked
    ? 'Transfer-Encoding: chunked\r\n'
    : body !== null
      ? `Content-Length: ${body.length}\r\n`
      : length
        ? 'Content-Length: 0\r\n'
        : ''
  return { text: `${method} ${target} HTTP/1.1\r\n${host}${fields}${framing}\r\n`, chunked, expects }
}

/**
 * Trailer lines that may follow: end-to-end fields that frame, route and identify nothing (RFC 9110, 6.5.1), and that are not
 * `withheld`.
 */
export function requestTrailers(raw: readonly string[], withheld?: OutgoingRequest['decided']): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    const value = raw[i + 1]!
    if (kindOf(name) !== END_TO_END || DESCRIBING.test(name) || withheld?.(name, value)) continue
    kept.push(name, value)
  }
  return kept
}

/** Fields that some servers take for those of the head when they come as trailers. */
const DESCRIBING =
  /^(?:set-cookie|authorization|content-(?:type|encoding|range)|cache-control|max-forwards|range|if-.*|origin|age|date|expires|location|vary)$/i

function nameLine(name: string): NameLine {
  const found = known.get(name)
  if (found !== undefined) return found
  if (typeof name !== 'string' || !isFieldName(name)) throw unsendable()
  const made: NameLine = { text: `${name}: `, kind: kindOf(name) }
  if (known.size < REMEMBERED) known.set(name, made)
  return made
}

function unsendable(): ProxyError {
  return new ProxyError({ source: 'proxy', phase: 'connect', code: 'bad-forward' })
}
