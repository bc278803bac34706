/** Finds the route of a canonical path, on find-my-way. */
import FindMyWay from 'find-my-way'
import { type Pattern, treePath } from './pattern.ts'

/** What a look-up gives. */
export interface Match<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
}

/** A pattern, and what its requests get. */
export interface RouteEntry<T> {
  readonly pattern: Pattern
  readonly value: T
}

/** A route that cannot be added, and why. */
export interface RouteProblem {
  readonly pattern: Pattern
  readonly problem: string
}

interface Leaf<T> {
  readonly value: T
  readonly wildcard: string | null
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})
// The length of a path is bounded by the transport, and by the gate that is made for it.
const SETTINGS = { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: Number.MAX_SAFE_INTEGER }

/**
 * A router over patterns that may name methods. Static beats parameter beats wildcard, per method. Of routes for the same
 * path, a named method wins over `HEAD` that comes with `GET`, and both over a route without methods, whatever the order.
 * `'mismatch'` means that the path has routes, but for other methods; {@link Router.allowed} lists those.
 */
export class Router<T> {
  /** One tree for each method that a pattern names. */
  readonly #named = FindMyWay(SETTINGS)
  /** Routes without methods, for every method that no pattern names; all of them under GET. */
  readonly #open = FindMyWay(SETTINGS)
  readonly #methods: readonly string[]
  readonly #taken = new Set<string>()
  /** Routes that could not be added. */
  readonly problems: readonly RouteProblem[]
  readonly size: number

  constructor(routes: readonly RouteEntry<T>[]) {
    const methods = new Set<string>()
    for (const { pattern } of routes) {
      for (const method of pattern.methods) methods.add(method)
      if (pattern.impliesHead) methods.add('HEAD')
    }
    this.#methods = [...methods]
    this.size = routes.length
    const problems: RouteProblem[] = []
    const report = (pattern: Pattern, problem: string | null): void => {
      if (problem !== null) problems.push({ pattern, problem })
    }
    for (const { pattern, value } of routes) {
      for (const method of pattern.methods) report(pattern, this.#addNamed(method, pattern, value))
    }
    for (const { pattern, value } of routes)
      if (pattern.impliesHead) this.#addWhereFree('HEAD', pattern, value)
    for (const { pattern, value } of routes) {
      if (pattern.methods.length === 0) report(pattern, this.#addOpen(pattern, value))
    }
    this.problems = problems
  }

  #addNamed(method: string, pattern: Pattern, value: T): string | null {
    if (!this.#take(method, pattern)) return `${method} ${pattern.path} is already routed`
    try {
      this.#named.on(method as 'GET', treePath(pattern), never, { value, wildcard: pattern.wildcard })
      return null
    } catch (error) {
      return error instanceof Error ? error.message : 'the router refused it'
    }
  }

  #addWhereFree(method: string, pattern: Pattern, value: T): void {
    if (!this.#take(method, pattern)) return
    this.#named.on(method as 'GET', treePath(pattern), never, { value, wildcard: pattern.wildcard })
  }

  #addOpen(pattern: Pattern, value: T): string | null {
    if (!this.#take('', pattern)) return `${pattern.path} is already routed`
    this.#open.on('GET', treePath(pattern), never, { value, wildcard: pattern.wildcard })
    for (const method of this.#methods) this.#addWhereFree(method, pattern, value)
    return null
  }

  /** False when a route of the same shape has the method already. Names of parameters make no difference. */
  #take(method: string, pattern: Pattern): boolean {
    const key = `${method} ${treePath(pattern).replace(/:[^/]+/g, ':')}`
    if (this.#taken.has(key)) return false
    this.#taken.add(key)
    return true
  }

  /** Finds the route for a method and a canonical path. */
  find(method: string, asked: string): Match<T> | 'mismatch' | null {
    if (this.size === 0) return null
    const path = routable(asked)
    const named = this.#methods.includes(method)
    const found = named ? this.#named.find(method as 'GET', path) : this.#open.find('GET', path)
    if (found !== null) {
      const { value, wildcard } = found.store as Leaf<T>
      const params = found.params as Record<string, string>
      if (wildcard !== null && wildcard !== '*') {
        params[wildcard] = params['*']!
        delete params['*']
      }
      return { value, params: params ?? NO_PARAMS }
    }
    return this.#methods.some(other => other !== method && this.#named.find(other as 'GET', path) !== null)
      ? 'mismatch'
      : null
  }

  /** Methods for which the path has a route: the value of `Allow`. */
  allowed(asked: string): string[] {
    const path = routable(asked)
    return this.#methods.filter(method => this.#named.find(method as 'GET', path) !== null)
  }

  /** The trees as text, for people. */
  print(): string {
    return `${this.#named.prettyPrint()}\n${this.#open.prettyPrint()}`
  }
}

function never(): void {}

const DELIMITERS = /%(?:24|26|2B|2C|3A|3D|40)/g
/** What is UTF-8 of several bytes (RFC 3629, 4), or else one byte that is none. */
const BYTES = new RegExp(
  [
    '%(?:C[2-9A-F]|D[0-9A-F])%[89AB][0-9A-F]',
    '%E0%[AB][0-9A-F]%[89AB][0-9A-F]',
    '%E[1-9A-CEF]%[89AB][0-9A-F]%[89AB][0-9A-F]',
    '%ED%[89][0-9A-F]%[89AB][0-9A-F]',
    '%F0%[9AB][0-9A-F](?:%[89AB][0-9A-F]){2}',
    '%F[1-3](?:%[89AB][0-9A-F]){3}',
    '%F4%8[0-9A-F](?:%[89AB][0-9A-F]){2}',
    '%[89A-F][0-9A-F]',
  ].join('|'),
  'g',
)

/**
 * A canonical path as the tree can take it. Delimiters that mean nothing in a path are one with their encoded form, to all
 * servers and so to patterns. The tree finds nothing in what is no UTF-8, and a path that is not found would pass the gates
 * of its route: such bytes stand for themselves.
 */
function routable(path: string): string {
  if (!path.includes('%')) return path
  const plain = path.replace(DELIMITERS, decodeURIComponent)
  try {
    decodeURI(plain)
    return plain
  } catch {
    return plain.replace(BYTES, bytes => (bytes.length > 3 ? bytes : `%25${bytes.slice(1)}`))
  }
}
