/**
 * Answers whose head is kept, over node:http. `writeHead()` looks through every name and value of every reply; what is
 * {@link PreparedLines} has been looked through. Beside that, head and body are one string, and leave in one write.
 *
 * Node has no public way to say a head as text. This uses `_storeHeader()` and `_header`, which all of Node 20 to 26 have; where they
 * are missing, the reply takes the plain way.
 */
import { type OutgoingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { PreparedLines } from '../../headers/prepared.ts'
import type { Reply } from '../../pipeline/contract.ts'

interface Internals {
  _header: string | null
  _storeHeader(firstLine: string, headers: readonly string[]): void
}

/** Sends the whole reply if it is one with a prepared head and a small body. False: nothing was done. */
export function sendPrepared(
  res: ServerResponse,
  { status, headers }: Reply,
  prepared: PreparedLines,
  body: string,
): boolean {
  const { _storeHeader: store } = res as OutgoingMessage & Partial<Internals>
  // What a host has set beforehand is node:http's to join.
  if (store === undefined || res.getHeaderNames().length > 0 || res.strictContentLength) return false
  if (prepared.length !== body.length || !prepared.leads(headers)) return false
  const rest = prepared.rest(headers)
  if (rest === null) return false
  res.statusCode = status
  res.statusMessage ||= STATUS_CODES[status] ?? 'unknown'
  // Node writes it where it is missing.
  if (prepared.dated) res.sendDate = false
  const line = `HTTP/1.1 ${status} ${res.statusMessage}\r\n`
  store.call(res, line + prepared.text + rest, ['Content-Length', String(body.length)])
  ;(res as unknown as Internals)._header += body
  res.end()
  return true
}
