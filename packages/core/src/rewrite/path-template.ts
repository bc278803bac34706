/** Paths rewritten by a template: what is matched is thrown away or moved, never decoded and never encoded again. */
import { canonicalSegment, readTarget } from '../headers/target.ts'

/** A compiled pair of pattern and template. */
export interface PathTemplate {
  /** The rewritten path, or `null` when the pattern does not fit. Linear in the length of the path. */
  apply(path: string): string | null
}

type Piece = { readonly text: string } | { readonly name: string; readonly rest: boolean }

/**
 * `/users/:id/*rest` takes one segment for `:id` and everything behind for `*rest` (`*` alone is named `*`). The template
 * puts them where the same names stand in it. `null` and a sentence when one of them cannot work.
 */
export function compileTemplate(from: string, to: string): PathTemplate | string {
  const pattern = piecesOf(from)
  const template = piecesOf(to)
  if (typeof pattern === 'string') return `from: ${pattern}`
  if (typeof template === 'string') return `to: ${template}`
  const names = pattern.flatMap(piece => ('name' in piece ? [piece.name] : []))
  if (new Set(names).size < names.length) return 'from: a name stands in it twice'
  for (const piece of template) {
    if ('name' in piece && !names.includes(piece.name)) return `to: from has no '${piece.name}'`
  }
  return {
    apply(path) {
      const found = match(pattern, path)
      return found === null ? null : build(template, found)
    },
  }
}

/**
 * Applies a template to a raw target, its query kept. `null` when it does not fit; `'ambiguous'` when a server that resolves
 * the path before it looks at it would see another one than the one that is rewritten.
 */
export function rewriteTarget(template: PathTemplate, target: string): string | 'ambiguous' | null {
  const read = readTarget('GET', target)
  if (typeof read === 'string') return 'ambiguous'
  const mark = target.indexOf('?')
  const raw = mark === -1 ? target : target.slice(0, mark)
  const made = template.apply(raw)
  const judged = raw === read.path ? made : template.apply(read.path)
  if (made === null && judged === null) return null
  if (made === null || judged === null) return 'ambiguous'
  if (raw !== read.path) {
    const [one, other] = [readTarget('GET', made), readTarget('GET', judged)]
    if (typeof one === 'string' || typeof other === 'string' || one.path !== other.path) return 'ambiguous'
  }
  return mark === -1 ? made : made + target.slice(mark)
}

function piecesOf(text: string): Piece[] | string {
  if (typeof text !== 'string' || !text.startsWith('/')) return 'it does not start with /'
  if (typeof readTarget('GET', text) === 'string' || text.includes('?')) return 'it is no path'
  const segments = text.slice(1).split('/')
  const pieces: Piece[] = []
  for (const [at, segment] of segments.entries()) {
    const named = /^([:*])(\w*)$/.exec(segment)
    if (segment === '.' || segment === '..') return 'it has a dot segment'
    if (named === null) {
      pieces.push({ text: segment })
    } else if (named[1] === '*') {
      if (at < segments.length - 1) return 'only the last segment can be a *'
      pieces.push({ name: named[2] || '*', rest: true })
    } else {
      if (named[2] === '') return 'a : has no name'
      pieces.push({ name: named[2]!, rest: false })
    }
  }
  return pieces
}

/** What the names stand for. A rest is what follows the slash in front of it, or `null` when there is not even that. */
function match(pattern: readonly Piece[], path: string): Map<string, string | null> | null {
  const found = new Map<string, string | null>()
  let from = 1
  for (const piece of pattern) {
    const rest = 'name' in piece && piece.rest
    if (rest) {
      found.set(piece.name, from > path.length ? null : path.slice(from))
      return found
    }
    if (from > path.length) return null
    const slash = path.indexOf('/', from)
    const end = slash === -1 ? path.length : slash
    const segment = path.slice(from, end)
    if ('text' in piece) {
      if (segment !== piece.text && canonicalSegment(segment) !== canonicalSegment(piece.text)) return null
    } else {
      if (segment === '' || isDots(segment)) return null
      found.set(piece.name, segment)
    }
    from = end + 1
  }
  return from > path.length ? found : null
}

function build(template: readonly Piece[], found: ReadonlyMap<string, string | null>): string {
  let path = ''
  for (const piece of template) {
    if ('text' in piece) path += `/${piece.text}`
    else {
      const value = found.get(piece.name)!
      if (value !== null) path += `/${value}`
    }
  }
  return path === '' ? '/' : path
}

function isDots(segment: string): boolean {
  const plain = canonicalSegment(segment)
  return plain === '.' || plain === '..'
}
