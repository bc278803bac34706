/** Finds the route of a canonical path, on find-my-way. */
import FindMyWay from 'find-my-way'
import type { Pattern } from './pattern.ts'

/** What a look-up gives. */
export interface Match<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
}

interface Entry<T> {
  readonly value: T
  readonly wildcard: string | null
}

// Stands for every method that no route names; find-my-way wants one that it knows.
const ANY = 'TRACE'
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

/**
 * A router over patterns that may name methods. Static beats parameter beats wildcard, per method.
 * `'mismatch'` means that the path has routes, but for other methods; {@link Router.allowed} lists those.
 */
export class Router<T> {
  readonly #tree = FindMyWay({ caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 65_536 })
  readonly #methods: readonly string[]
  readonly #taken = new Set<string>()
  #size = 0

  /** `methods` are all methods that any pattern of this router names. */
  constructor(patterns: Iterable<Pattern>) {
    const named = new Set<string>()
    for (const pattern of patterns) for (const method of pattern.methods) named.add(method)
    this.#methods = [...named]
  }

  /** Adds a route; says what is wrong when it cannot. */
  add(pattern: Pattern, value: T): string | null {
    const methods = pattern.methods.length > 0 ? pattern.methods : [...this.#methods, ANY]
    const path =
      pattern.wildcard === null ? pattern.path : pattern.path.slice(0, pattern.path.lastIndexOf('*') + 1)
    const shape = path.replace(/:[^/]+/g, ':')
    for (const method of methods) {
      // An open pattern gives way to the same path with methods named.
      const key = `${method} ${shape}`
      if (this.#taken.has(key)) {
        if (pattern.methods.length === 0) continue
        return `${method} ${pattern.path} is already routed`
      }
      this.#taken.add(key)
      const entry: Entry<T> = { value, wildcard: pattern.wildcard }
      try {
        this.#tree.on(method as 'GET', path, never, entry)
      } catch (error) {
        return error instanceof Error ? error.message : 'the router refused it'
      }
    }
    this.#size++
    return null
  }

  /** Finds the route for a method and a canonical path. */
  find(method: string, asked: string): Match<T> | 'mismatch' | null {
    if (this.#size === 0) return null
    const path = decodable(asked)
    const own = this.#methods.includes(method) ? method : ANY
    const found = this.#tree.find(own as 'GET', path)
    if (found !== null) {
      const { value, wildcard } = found.store as Entry<T>
      const params = found.params as Record<string, string>
      if (wildcard !== null && wildcard !== '*') {
        params[wildcard] = params['*']!
        delete params['*']
      }
      return { value, params: params ?? NO_PARAMS }
    }
    return this.#methods.some(other => other !== own && this.#tree.find(other as 'GET', path) !== null)
      ? 'mismatch'
      : null
  }

  /** Methods for which the path has a route: the value of `Allow`. */
  allowed(path: string): string[] {
    return this.#methods.filter(method => this.#tree.find(method as 'GET', path) !== null)
  }

  /** The tree as text, for people. */
  print(): string {
    return this.#tree.prettyPrint()
  }
}

function never(): void {}

function decodable(path: string): string {
  if (!path.includes('%')) return path
  try {
    decodeURIComponent(path)
    return path
  } catch {
    return path.replace(/%(?=[89A-F])/g, '%25')
  }
}
