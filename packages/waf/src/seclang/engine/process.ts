/** Takes a request and a reply through the five phases. */
import { type BodyLimits, emptyBody, type ParsedBody } from '../body/body.ts'
import { readJson } from '../body/json.ts'
import { readMultipart } from '../body/multipart.ts'
import { readQuery, readUrlEncoded } from '../body/url-encoded.ts'
import { readXml } from '../body/xml.ts'
import type { Settings } from '../rules/settings.ts'
import { utf8Bytes } from '../transform/bytes.ts'
import { percentDecode } from '../transform/url-decode.ts'
import type { RequestView } from '../variables/request.ts'
import { Entry } from './form.ts'
import type { RuleProgram } from './program.ts'
import { runPhase } from './run-phase.ts'
import { type Exempt, type Interruption, Transaction } from './transaction.ts'

/** A request's head. Strings have one character a byte. */
export interface RuleRequest {
  readonly method: string
  /** As received: origin-form, or whatever the client sent. */
  readonly target: string
  /** `HTTP/1.1`. */
  readonly protocol: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly remoteAddress?: string
  readonly remotePort?: number
  readonly serverAddress?: string
  readonly serverPort?: number
  readonly id?: string
}

/** Starts a transaction and runs phase 1. */
export function startTransaction(
  program: RuleProgram,
  request: RuleRequest,
  exempt: Exempt | null = null,
): Transaction {
  const tx = new Transaction(program, viewOf(request, program))
  tx.exempt = exempt
  tx.processor = processorFor(tx.request.headers)
  runPhase(tx, 1)
  return tx
}

/** Takes the whole request body, or `null` for none, and runs phase 2. */
export function takeRequestBody(tx: Transaction, bytes: Uint8Array | null): Interruption | null {
  if (tx.mode === 'Off' || tx.interruption !== null) return tx.interruption
  if (bytes !== null && bytes.length > 0) {
    tx.requestBodyLength = bytes.length
    tx.rawBody = bytes
    if (tx.settings.requestBodyAccess) readBody(tx, bytes)
    tx.refresh()
  }
  if (tx.interruption === null) runPhase(tx, 2)
  return tx.interruption
}

/** Takes a reply's head and runs phase 3. */
export function takeResponseHead(
  tx: Transaction,
  status: number,
  headers: readonly (readonly [string, string])[],
  protocol: string = tx.request.protocol,
): Interruption | null {
  tx.response = { status, protocol, headers: headers.map(([name, value]) => new Entry(name, value.trim())) }
  tx.refresh()
  runPhase(tx, 3)
  return tx.interruption
}

/** Whether rules want to see the body of this reply. */
export function wantsResponseBody(tx: Transaction): boolean {
  if (!tx.program.readsReplyBodies || !tx.settings.responseBodyAccess || tx.response === null) return false
  if (tx.forceResponseBody) return true
  const type = tx.response.headers.find(({ lower }) => lower === 'content-type')?.value ?? ''
  return tx.settings.responseBodyMimeTypes.has(type.split(';', 1)[0]!.trim().toLowerCase())
}

/** Takes a reply's body and runs phase 4. */
export function takeResponseBody(tx: Transaction, bytes: Uint8Array | null): Interruption | null {
  if (bytes !== null && wantsResponseBody(tx)) {
    const limit = tx.settings.responseBodyLimit
    tx.outboundTooLong = bytes.length > limit
    if (tx.outboundTooLong && tx.settings.responseBodyLimitAction === 'Reject' && tx.mode === 'On') {
      tx.interruption = { kind: 'deny', status: 500, rule: 0 }
      return tx.interruption
    }
    tx.responseBody = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, limit)).toString(
      'latin1',
    )
    tx.refresh()
  }
  runPhase(tx, 4)
  return tx.interruption
}

/** Runs phase 5, always. */
export function endTransaction(tx: Transaction): void {
  runPhase(tx, 5)
}

function readBody(tx: Transaction, bytes: Uint8Array): void {
  const limit = tx.settings.requestBodyLimit
  let part = bytes
  if (bytes.length > limit) {
    tx.inboundTooLong = true
    if (tx.settings.requestBodyLimitAction === 'Reject' && tx.mode === 'On') {
      tx.interruption = { kind: 'deny', status: 413, rule: 0 }
      return
    }
    part = bytes.subarray(0, limit)
  }
  const text = Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1')
  tx.body = parseBody(tx, text)
  for (const entry of tx.body.args) tx.program.keep(entry)
  // As ModSecurity v2 does: the raw body only where no other processor took it apart.
  if (tx.processor === 'URLENCODED' || tx.processor === 'RAW' || (tx.processor === '' && tx.forceRequestBody))
    tx.requestBody = text
}

function parseBody(tx: Transaction, text: string): ParsedBody {
  const limits = limitsOf(tx.settings)
  switch (tx.processor) {
    case 'URLENCODED':
      return readUrlEncoded(text, limits)
    case 'MULTIPART': {
      const type = tx.request.headers.find(({ lower }) => lower === 'content-type')?.value ?? ''
      return readMultipart(text, type, limits)
    }
    case 'JSON':
      return readJson(text, limits)
    case 'XML':
      return readXml(text, limits)
    default:
      return emptyBody()
  }
}

function limitsOf(settings: Settings): BodyLimits {
  return {
    entries: settings.argumentsLimit,
    jsonDepth: settings.requestBodyJsonDepthLimit,
    separator: settings.argumentSeparator,
    files: settings.uploadFileLimit,
  }
}

function viewOf(request: RuleRequest, program: RuleProgram): RequestView {
  const { settings } = program.set
  const headers = request.headers.map(([name, value]) => program.entry(utf8Bytes(name), trimOws(value)))
  const raw = request.target
  const fragment = raw.indexOf('#')
  const uri = originForm(fragment === -1 ? raw : raw.slice(0, fragment))
  const question = uri.indexOf('?')
  const path = question === -1 ? uri : uri.slice(0, question)
  const query = question === -1 ? '' : uri.slice(question + 1)
  return {
    method: request.method,
    uriRaw: raw,
    protocol: request.protocol,
    uri,
    filename: percentDecode(path),
    query,
    headers,
    cookies: cookiesOf(headers, settings.argumentsLimit).map(entry => program.keep(entry)),
    args: readQuery(query, limitsOf(settings)).map(entry => program.keep(entry)),
    remoteAddress: request.remoteAddress ?? '127.0.0.1',
    remotePort: request.remotePort ?? 0,
    serverAddress: request.serverAddress ?? '127.0.0.1',
    serverPort: request.serverPort ?? 80,
    id: request.id ?? null,
  }
}

/** A target without scheme and authority. */
function originForm(target: string): string {
  if (target.charCodeAt(0) === 0x2f) return target
  return target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/, '') || '/'
}

/** Optional white space around a field value is not part of it (RFC 9110, 5.5). */
function trimOws(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start += 1
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Of too many cookies the last one holds all that is left, so that rules see it still. */
function cookiesOf(headers: readonly Entry[], most: number): Entry[] {
  const cookies: Entry[] = []
  for (const { lower, value } of headers) {
    if (lower !== 'cookie') continue
    for (let from = 0; from < value.length; ) {
      const semicolon = cookies.length + 1 < most ? value.indexOf(';', from) : -1
      const to = semicolon === -1 ? value.length : semicolon
      const text = value.slice(from, to).trimStart()
      const equals = text.indexOf('=')
      const name = equals === -1 ? text : text.slice(0, equals)
      if (name !== '') cookies.push(new Entry(name, equals === -1 ? '' : text.slice(equals + 1)))
      from = to + 1
    }
  }
  return cookies
}

/** The body processor that the media type calls for; JSON and XML are chosen by rules. */
function processorFor(headers: readonly Entry[]): string {
  const type = (headers.find(({ lower }) => lower === 'content-type')?.value ?? '').toLowerCase()
  if (type.startsWith('application/x-www-form-urlencoded')) return 'URLENCODED'
  return type.startsWith('multipart/form-data') ? 'MULTIPART' : ''
}
