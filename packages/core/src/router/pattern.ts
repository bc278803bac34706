/** Route patterns: `GET,POST /users/:id/*rest`. */
import { canonicalSegment } from '../headers/target.ts'

/** A pattern taken apart. */
export interface Pattern {
  /** As written: the label of logs and metrics. */
  readonly text: string
  /** Upper-case methods as written; empty for all. */
  readonly methods: readonly string[]
  /** `GET` is there and `HEAD` is not: it brings `HEAD`, unless another pattern names that for the same path. */
  readonly impliesHead: boolean
  /** Canonical path with parameters and at most one wildcard, at the end. */
  readonly path: string
  /** Name of the wildcard, `'*'` for a bare one, `null` without one. */
  readonly wildcard: string | null
}

const SEGMENT = /^(?:[A-Za-z0-9\-._~!$&'()+,;=@%]*|:[A-Za-z_][A-Za-z0-9_]*|\*(?:[A-Za-z_][A-Za-z0-9_]*)?)$/
const METHOD = /^[A-Z][A-Z-]{0,31}$/

/** Takes a pattern apart, or says what is wrong with it. */
export function readPattern(text: string): Pattern | string {
  if (typeof text !== 'string') return `a pattern is a string, not ${text === null ? 'null' : typeof text}`
  const space = text.indexOf(' ')
  const path = space === -1 ? text : text.slice(space + 1)
  const methods = space === -1 ? [] : text.slice(0, space).split(',')
  for (const method of methods) if (!METHOD.test(method)) return `'${method}' is not an upper-case method`
  if (new Set(methods).size !== methods.length) return 'a method is named twice'
  if (!path.startsWith('/')) return 'the path does not start with /'
  const segments = path.slice(1).split('/')
  const names = new Set<string>()
  for (const [index, segment] of segments.entries()) {
    const problem = segmentProblem(segment, index === segments.length - 1, names)
    if (problem !== null) return problem
  }
  const last = segments.at(-1)!
  const wildcard = last.startsWith('*') ? last.slice(1) || '*' : null
  return { text, methods, impliesHead: methods.includes('GET') && !methods.includes('HEAD'), path, wildcard }
}

function segmentProblem(segment: string, last: boolean, names: Set<string>): string | null {
  if (segment === '.' || segment === '..') return 'a canonical path has no dot segments'
  if (/[^\x20-\x7e]/.test(segment)) return notCanonical(segment, encodeURI(Buffer.from(segment).toString()))
  if (!SEGMENT.test(segment)) return `'${segment}' is neither text, :name nor *name`
  if (segment.startsWith('*') && !last) return 'a wildcard stands only at the end'
  if (segment.startsWith(':') || (segment.startsWith('*') && segment !== '*')) {
    const name = segment.slice(1)
    if (name === '__proto__') return 'no parameter can be called __proto__'
    if (names.has(name)) return `parameter ${name} is named twice`
    names.add(name)
    return null
  }
  return segment.includes('%') ? encodedProblem(segment) : null
}

/** What is wrong with a static segment that has something encoded. */
function encodedProblem(segment: string): string | null {
  const plain = segment.replace(/%(?:24|26|2B|2C|3D|40)/gi, escaped => decodeURIComponent(escaped))
  const canonical = canonicalSegment(plain)
  if (canonical === '.' || canonical === '..') return 'a canonical path has no dot segments'
  if (canonical !== segment) return notCanonical(segment, canonical)
  const special = /%(?:23|2A|2F|3A|3B|3F|5C)/.exec(segment)
  if (special) return `'${segment}' holds ${special[0]}, which only a parameter or wildcard can match`
  try {
    decodeURIComponent(segment)
    return null
  } catch {
    return `'${segment}' is not UTF-8, and only a parameter or wildcard can match that`
  }
}

function notCanonical(segment: string, right: string): string {
  return `'${segment}' is not how it stands in a canonical path: write '${right}'`
}

/** The pattern's path as the router knows it: text decoded, the wildcard without its name. */
export function treePath({ path, wildcard }: Pattern): string {
  const bare = wildcard === null ? path : path.slice(0, path.lastIndexOf('*') + 1)
  return bare.includes('%') ? decodeURIComponent(bare) : bare
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
