/** Attributes of the semantic conventions for HTTP: bounded, printable, without secrets. */
import type { Attributes } from '@opentelemetry/api'
import type { ProxyError } from '../../errors.ts'
import type { Context } from '../../pipeline/contract.ts'
import { printable, redactQuery } from '../redact.ts'

const METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'QUERY',
])
/** Longest path, query and so on in an attribute, in characters. */
const MOST = { path: 1024, query: 1024, host: 255, agent: 256, method: 32 }
const VERSIONS = { '1.0': '1.0', '1.1': '1.1', '2.0': '2' } as const

/** What is done with queries: `null` leaves them out, else the names whose values are. */
export type QueryRule = ReadonlySet<string> | null

/** The method, or what stands for those that a client has invented. */
export function methodOf(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}

/** Name of a span: method and route. */
export function spanName(cx: Context): string {
  const method = methodOf(cx.request.method)
  const name = method === '_OTHER' ? 'HTTP' : method
  const route = routeOf(cx)
  return route === undefined ? name : `${name} ${route}`
}

/** The pattern of the route without its methods; `undefined` for the fallback. */
export function routeOf({ route }: Context): string | undefined {
  return route === '*' ? undefined : route.slice(route.indexOf('/'))
}

/** What a server span says from its beginning on, so that samplers can decide by it. */
export function serverAttributes(cx: Context, rule: QueryRule): Attributes {
  const { request } = cx
  const { peer } = request
  const attributes: Attributes = {
    'http.request.method': methodOf(request.method),
    'url.scheme': request.scheme,
    'url.path': printable(request.path, MOST.path),
    'network.protocol.version': VERSIONS[request.version],
    'client.address': request.clientAddress,
  }
  if (!METHODS.has(request.method)) {
    attributes['http.request.method_original'] = printable(request.method, MOST.method)
  }
  if (request.query !== '' && rule !== null) attributes['url.query'] = queryOf(request.query, rule)
  const route = routeOf(cx)
  if (route !== undefined) attributes['http.route'] = route
  if (peer.address !== '') {
    attributes['network.peer.address'] = peer.address
    attributes['network.peer.port'] = peer.port
  }
  addServer(attributes, request.authority, request.scheme)
  const agent = request.headers.get('user-agent')
  if (agent !== undefined) attributes['user_agent.original'] = printable(agent, MOST.agent)
  if (request.upgrade !== null) attributes['postern.upgrade'] = printable(request.upgrade, MOST.method)
  return attributes
}

/** `server.address` and `server.port` of `host[:port]`. */
function addServer(attributes: Attributes, authority: string, scheme: string): void {
  if (authority === '') return
  const [, host = authority, port] = /^(.*?)(?::(\d+))?$/.exec(authority)!
  attributes['server.address'] = printable(host.replace(/^\[|\]$/g, ''), MOST.host)
  attributes['server.port'] = port === undefined ? (scheme === 'https' ? 443 : 80) : Number(port)
}

function queryOf(query: string, rule: ReadonlySet<string>): string {
  // Cut before it is searched, so that a long one costs no more; what is cut off is not told.
  const cut = query.length > MOST.query ? `${query.slice(0, MOST.query)}…` : query
  return printable(redactQuery(cut, rule), 2 * MOST.query)
}

/** Where an attempt goes. */
export interface Place {
  readonly address: string
  readonly port: number | undefined
  /** `scheme://host:port`, `null` for a Unix socket. */
  readonly origin: string | null
  /** The address of a name, where the upstream looks names up by itself. */
  readonly peer: string | undefined
}

/** Targets that are remembered; there are few. */
const MOST_PLACES = 1000
const places = new Map<string, Place>()

/** What the label of a target says. */
export function placeOf(label: string): Place {
  let place = places.get(label)
  if (place === undefined) {
    if (places.size >= MOST_PLACES) places.clear()
    place = readPlace(label)
    places.set(label, place)
  }
  return place
}

function readPlace(label: string): Place {
  if (!URL.canParse(label) || label.startsWith('unix:')) {
    const [, path = label] = /^unix:([^:]+)/.exec(label) ?? []
    return { address: path, port: undefined, origin: null, peer: undefined }
  }
  const url = new URL(label)
  return {
    address: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    origin: url.origin,
    peer: url.hash === '' ? undefined : decodeURIComponent(url.hash.slice(1)),
  }
}

/** `url.full` of an attempt: path and query as they are sent, what is secret in them left out. */
export function urlOf(place: Place, target: string, rule: QueryRule): string {
  const mark = target.indexOf('?')
  const path = printable(mark === -1 ? target : target.slice(0, mark), MOST.path)
  const query = mark === -1 || rule === null ? '' : `?${queryOf(target.slice(mark + 1), rule)}`
  return `${place.origin ?? 'http://localhost'}${path}${query}`
}

/** `error.type`: the code of a failure, or the status. Of a bounded set. */
export function errorType(error: ProxyError | null, status: number, from: number): string | undefined {
  if (error !== null) return error.code
  return status >= from ? String(status) : undefined
}
