/** The primary key (RFC 9111, 2) and what the origin is asked: both from the same parts, so that nothing unkeyed is sent. */
import type { HeaderList, RequestHead } from '@postern/core'
import { normalisedValue } from './vary.ts'

/** What makes two requests ask for the same. */
export interface KeyRules {
  /** `null`: the request's own. Else all hosts share, and the origin sees this one. */
  readonly host: string | null
  readonly scheme: 'http' | 'https' | null
  readonly query: QueryRules
  /** Names, lower case. */
  readonly headers: readonly string[]
  readonly cookies: readonly string[]
  /** Canonical paths whose content never changes. */
  readonly fingerprinted: RegExp | null
}

/** Which parameters of the query count; the others are not sent to the origin either. */
export interface QueryRules {
  /** Names; `null` for all. */
  readonly allow: ReadonlySet<string> | null
  readonly deny: ReadonlySet<string> | null
  /** By name; equal names keep their order. */
  readonly sort: boolean
}

/** Where a request leads. */
export interface Place {
  /** Primary key: the canonical URL, so that a purge reaches every spelling and every variant. */
  readonly key: string
  /** What sets requests under one key apart, `Vary` aside: the spelling of the target, keyed fields and cookies. */
  readonly selector: string
  /** Target that the origin is asked for. */
  readonly target: string
  readonly scheme: 'http' | 'https'
  readonly authority: string
  /** What is there never changes: its fingerprint is in the path. */
  readonly fixed: boolean
}

/** Fields of a trusted peer that reach the origin and may change its links. */
const FORWARDED = ['x-forwarded-host', 'x-forwarded-port', 'forwarded']

/** Key and target of a request. */
export function placeOf(request: RequestHead, rules: KeyRules): Place {
  const scheme = rules.scheme ?? request.scheme
  const authority = rules.host ?? request.authority
  let { target } = request
  if (request.query !== '' && filters(rules.query)) {
    const query = keptQuery(request.query, rules.query)
    const path = target.slice(0, target.indexOf('?'))
    target = query === '' ? path : `${path}?${query}`
  }
  let selector = target
  if (request.peerTrusted) selector += forwardedParts(request.headers)
  for (const name of rules.headers) {
    const value = normalisedValue(name, request.headers)
    if (value !== undefined) selector += `\n${name}:${value}`
  }
  if (rules.cookies.length > 0) selector += cookieParts(request.headers, rules.cookies)
  const at = target.indexOf('?')
  const key = `${scheme}://${authority}${request.path}${at === -1 ? '' : target.slice(at)}`
  const fixed = rules.fingerprinted?.test(request.path) ?? false
  return { key, selector, target, scheme, authority, fixed }
}

/** The key of a URL, from its canonical path. `query` without `?`; `null` for none. */
export function keyOf(
  scheme: string,
  authority: string,
  path: string,
  query: string | null,
  rules: KeyRules,
): string {
  const kept = query !== null && query !== '' && filters(rules.query) ? keptQuery(query, rules.query) : query
  const end = kept === null || (kept === '' && query !== '') ? '' : `?${kept}`
  return `${rules.scheme ?? scheme}://${rules.host ?? authority}${path}${end}`
}

/** True when scheme, host and target say all there is to know. */
export function isPlain(rules: KeyRules): boolean {
  const { host, scheme, query, headers, cookies } = rules
  return host === null && scheme === null && !filters(query) && headers.length + cookies.length === 0
}

function filters({ allow, deny, sort }: QueryRules): boolean {
  return sort || allow !== null || deny !== null
}

/** A query with only the parameters that count, in the order that counts. */
export function keptQuery(query: string, { allow, deny, sort }: QueryRules): string {
  const parts: { name: string; text: string }[] = []
  for (const text of query.split('&')) {
    if (text === '') continue
    const end = text.indexOf('=')
    const name = decoded(end === -1 ? text : text.slice(0, end))
    if (allow !== null && !allow.has(name)) continue
    if (deny?.has(name)) continue
    parts.push({ name, text })
  }
  if (sort) parts.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return parts.map(part => part.text).join('&')
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}

function forwardedParts(headers: HeaderList): string {
  let parts = ''
  for (const name of FORWARDED) {
    const value = headers.joined(name)
    if (value === undefined) continue
    // Of Forwarded, the addresses name clients; what an origin builds links from is host and proto.
    const told = name === 'forwarded' ? (value.match(/(?:host|proto)=[^;,]*/gi) ?? []).join() : value
    if (told !== '') parts += `\n${name}:${told}`
  }
  return parts
}

function cookieParts(headers: HeaderList, names: readonly string[]): string {
  const given = headers.all('cookie').flatMap(line => line.split(';'))
  let parts = ''
  for (const name of names) {
    for (const cookie of given) {
      const text = cookie.trim()
      if (text.startsWith(`${name}=`)) parts += `\ncookie:${text}`
    }
  }
  return parts
}
