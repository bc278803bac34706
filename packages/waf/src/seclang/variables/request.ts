/** Variables of a request's head. */
import type { Entry } from '../engine/form.ts'
import type { Variable } from './variable.ts'

const one =
  (read: (request: RequestView) => string): Variable['values'] =>
  tx =>
    tx.scalar(read(tx.request))

/** A request's head as rules see it. All strings are bytes. */
export interface RequestView {
  readonly method: string
  /** Target as sent, absolute form and fragment included. */
  readonly uriRaw: string
  readonly protocol: string
  readonly uri: string
  /** Path, percent-decoded once. */
  readonly filename: string
  readonly query: string
  readonly headers: readonly Entry[]
  readonly cookies: readonly Entry[]
  readonly args: readonly Entry[]
  readonly remoteAddress: string
  readonly remotePort: number
  readonly serverAddress: string
  readonly serverPort: number
  /** `null`: one is made when it is asked for ({@link idOf}), and stays. */
  id: string | null
}

/** The last part of a path, or the whole path when there is none. */
function basename(path: string): string {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
  return at === path.length - 1 ? path : path.slice(at + 1)
}

function serverName(headers: readonly Entry[]): string {
  const host = headers.find(({ lower }) => lower === 'host')?.value ?? ''
  return host.replace(/:\d*$/, '')
}

export const requestVariables: readonly (readonly [string, Variable])[] = [
  ['REQUEST_METHOD', { values: one(request => request.method) }],
  ['REQUEST_PROTOCOL', { values: one(request => request.protocol) }],
  ['REQUEST_LINE', { values: one(request => `${request.method} ${request.uriRaw} ${request.protocol}`) }],
  ['REQUEST_URI', { values: one(request => request.uri) }],
  ['REQUEST_URI_RAW', { values: one(request => request.uriRaw) }],
  ['REQUEST_FILENAME', { values: one(request => request.filename) }],
  ['REQUEST_BASENAME', { values: one(request => basename(request.filename)) }],
  ['QUERY_STRING', { values: one(request => request.query) }],
  ['PATH_INFO', { values: one(() => '') }],
  ['REQUEST_HEADERS', { values: tx => tx.request.headers }],
  ['REQUEST_HEADERS_NAMES', { values: tx => tx.named(tx.request.headers) }],
  ['REQUEST_COOKIES', { values: tx => tx.request.cookies }],
  ['REQUEST_COOKIES_NAMES', { values: tx => tx.named(tx.request.cookies) }],
  ['REMOTE_ADDR', { values: one(request => request.remoteAddress) }],
  ['REMOTE_HOST', { values: one(request => request.remoteAddress) }],
  ['REMOTE_PORT', { values: one(request => String(request.remotePort)) }],
  ['REMOTE_USER', { values: one(() => '') }],
  ['AUTH_TYPE', { values: tx => tx.scalar(authType(tx.request.headers)) }],
  ['SERVER_ADDR', { values: one(request => request.serverAddress) }],
  ['SERVER_PORT', { values: one(request => String(request.serverPort)) }],
  ['SERVER_NAME', { values: tx => tx.scalar(serverName(tx.request.headers)) }],
  ['UNIQUE_ID', { values: one(idOf) }],
]

function authType(headers: readonly Entry[]): string {
  return headers.find(({ lower }) => lower === 'authorization')?.value.split(' ', 1)[0] ?? ''
}

/** What names a request in rules and in the audit log. */
export function idOf(request: RequestView): string {
  request.id ??= uniqueId()
  return request.id
}

function uniqueId(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`
}
