/** The head that an upstream sees: end-to-end fields as they came, the rest made by this hop. */

import { normaliseAuthority } from '../headers/authority.ts'
import { nominatedNames } from '../headers/hop-by-hop.ts'
import { HeaderList, sameName } from '../headers/list.ts'
import {
  CONTENT_LENGTH,
  COOKIE,
  END_TO_END,
  FORWARDED,
  foldName,
  kindOf,
  TE,
  TOLD_BY_EDGE,
} from '../headers/names.ts'
import { readTarget } from '../headers/target.ts'
import type { ForwardHead, RequestHead } from '../pipeline/contract.ts'
import { addForwarded, type ForwardedMode } from './forwarded.ts'

/** How heads are made. */
export interface ForwardRules {
  readonly forwarded: ForwardedMode
  /** Write `Forwarded` too. */
  readonly standard: boolean
  /** Protocols that may be changed to. */
  readonly upgrades: ReadonlySet<string>
}

/** End-to-end fields of a request and this hop's own, as `[name, value, …]` without `Host`. */
export function forwardFields(request: RequestHead, hasBody: boolean, rules: ForwardRules): string[] {
  const { raw } = request.headers
  const nominated = nominatedNames(raw)
  const out: string[] = []
  let cookies: string | null = null
  let trailers = false
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    const kind = kindOf(name)
    if (kind === END_TO_END) {
      if (nominated === null || !nominated.has(name.toLowerCase())) out.push(name, raw[i + 1]!)
    } else if (kind === CONTENT_LENGTH) {
      if (hasBody || request.method !== 'GET') out.push(name, raw[i + 1]!)
    } else if (kind === COOKIE) {
      // HTTP/2 may split cookies into crumbs; HTTP/1.1 has one line (RFC 9113, 8.2.3).
      cookies = cookies === null ? raw[i + 1]! : `${cookies}; ${raw[i + 1]}`
    } else if (kind === TE) {
      trailers ||= /(?:^|,)\s*trailers\s*(?:,|$)/i.test(raw[i + 1]!)
    } else if (kind === TOLD_BY_EDGE) {
      if (request.peerTrusted) out.push(name, raw[i + 1]!)
    } else if (kind === FORWARDED && rules.forwarded === 'off' && request.peerTrusted) {
      out.push(name, raw[i + 1]!)
    }
  }
  if (cookies !== null) out.push('Cookie', cookies)
  // The only member of TE that crosses hops (RFC 9110, 10.1.4).
  if (trailers) out.push('TE', 'trailers')
  addForwarded(out, request, rules.forwarded, rules.standard)
  return out
}

/** What `onForward` hooks edit. Illegal values throw where they are set, and never reach the wire. */
export class EditableHead implements ForwardHead {
  readonly method: string
  readonly headers: ForwardHeaders
  readonly attempt: number
  #target: string
  #authority: string

  constructor(method: string, target: string, authority: string, fields: string[], attempt: number) {
    this.method = method
    this.headers = new ForwardHeaders(fields)
    this.attempt = attempt
    this.#target = target
    this.#authority = authority
  }

  get target(): string {
    return this.#target
  }

  set target(target: string) {
    if (
      typeof target !== 'string' ||
      !target.startsWith('/') ||
      typeof readTarget(this.method, target) === 'string'
    ) {
      throw new TypeError('a forwarded target is in origin-form and unambiguous')
    }
    this.#target = target
  }

  get authority(): string {
    return this.#authority
  }

  set authority(authority: string) {
    if (typeof authority !== 'string' || normaliseAuthority(authority, 'http') === null) {
      throw new TypeError('a forwarded authority is host[:port]')
    }
    this.#authority = authority
  }
}

/**
 * `set` and `delete` take the spellings along that an application server folds onto the same name. What a hook has removed
 * or written is its word: a trailer of the client's cannot say it again (RFC 9110, 6.5.1).
 */
export class ForwardHeaders extends HeaderList {
  readonly #decided: ((name: string, value: string) => boolean)[] = []

  /** A test for fields that a hook has decided about; `undefined` when none has. */
  get decided(): ((name: string, value: string) => boolean) | undefined {
    const tests = this.#decided
    return tests.length === 0 ? undefined : (name, value) => tests.some(test => test(name, value))
  }

  override append(name: string, value: string): this {
    refuseFraming(name)
    return super.append(name, value)
  }

  override set(name: string, value: string): this {
    refuseFraming(name)
    this.#deleteAliases(name, name.toLowerCase())
    return super.set(name, value)
  }

  override delete(name: string): boolean {
    return this.#deleteAliases(name)
  }

  override deleteWhere(test: (name: string, value: string) => boolean): boolean {
    this.#decided.push(test)
    return super.deleteWhere(test)
  }

  /** `except`: a name in lower case that stays. */
  #deleteAliases(name: string, except?: string): boolean {
    const folded = foldName(name)
    const isAlias = (other: string): boolean => other.length === folded.length && foldName(other) === folded
    this.#decided.push(isAlias)
    if (except === undefined) return super.deleteWhere(isAlias)
    return super.deleteWhere(other => isAlias(other) && !sameName(other, except))
  }
}

const FRAMING = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'keep-alive',
])

function refuseFraming(name: string): void {
  if (FRAMING.has(String(name).toLowerCase())) throw new TypeError(`${name} is written by the proxy itself`)
}
