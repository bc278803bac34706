/** Route patterns: `GET,POST /users/:id/*rest`. */

/** A pattern taken apart. */
export interface Pattern {
  /** As written: the label of logs and metrics. */
  readonly text: string
  /** Upper-case methods; empty for all. `GET` brings `HEAD`. */
  readonly methods: readonly string[]
  /** Path with parameters and at most one wildcard, at the end. */
  readonly path: string
  /** Name of the wildcard, `'*'` for a bare one, `null` without one. */
  readonly wildcard: string | null
}

const SEGMENT = /^(?:[A-Za-z0-9\-._~!$&'()+,;=@%]*|:[A-Za-z_][A-Za-z0-9_]*|\*(?:[A-Za-z_][A-Za-z0-9_]*)?)$/
const METHOD = /^[A-Z][A-Z-]{0,31}$/

/** Takes a pattern apart, or says what is wrong with it. */
export function readPattern(text: string): Pattern | string {
  const space = text.indexOf(' ')
  const path = space === -1 ? text : text.slice(space + 1)
  const methods = space === -1 ? [] : text.slice(0, space).split(',')
  for (const method of methods) if (!METHOD.test(method)) return `'${method}' is not an upper-case method`
  if (!path.startsWith('/')) return 'the path does not start with /'
  const segments = path.slice(1).split('/')
  const names = new Set<string>()
  for (const [index, segment] of segments.entries()) {
    if (!SEGMENT.test(segment)) return `'${segment}' is neither text, :name nor *name`
    if (segment === '.' || segment === '..') return 'a canonical path has no dot segments'
    if (segment.startsWith('*') && index !== segments.length - 1) return 'a wildcard stands only at the end'
    if (/^[:*]./.test(segment)) {
      const name = segment.slice(1)
      if (names.has(name)) return `parameter ${name} is named twice`
      names.add(name)
    }
  }
  const last = segments.at(-1)!
  const wildcard = last.startsWith('*') ? last.slice(1) || '*' : null
  if (methods.includes('GET') && !methods.includes('HEAD')) methods.push('HEAD')
  return { text, methods, path, wildcard }
}

/** True when every path of `inner` is also one of `outer`: what a nested route has to keep. */
export function isWithin(inner: Pattern, outer: Pattern): boolean {
  const own = inner.path.split('/')
  const theirs = outer.path.split('/')
  for (const [index, segment] of theirs.entries()) {
    if (segment.startsWith('*')) return own.length > index
    if (own[index] !== segment) return false
  }
  return own.length === theirs.length
}
