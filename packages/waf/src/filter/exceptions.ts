/** Exceptions: findings that are right for the rule and wrong for the app. */
import type { ConfigFault } from '@postern/core'
import { CATEGORIES, type Category, type Excepted, type Violation } from '../engine/types.ts'

/**
 * What does not count. All that is given must fit; at least one of `rule`, `category` and `place` is needed.
 *
 * A fault of form that is excepted lets the body pass although its reader gave up on it: it has then been looked at as
 * running text only.
 */
export interface WafException {
  /**
   * Pattern of the route: `POST /notes` for that one, `/notes` for those of any method with this path. Default: every route.
   */
  route?: string
  /** Id of a rule or structure gate; `*` stands for any text: `sqli-*`. */
  rule?: string
  category?: Category
  /** Place of the value; `*` stands for any text: `json.posts[*].body`, `cookie.*`. */
  place?: string
}

/** What {@link compileExceptions} makes, for one route. */
export interface RouteExceptions {
  readonly findings: Excepted
  readonly violation: (violation: Violation) => boolean
}

const NAMES = ['route', 'rule', 'category', 'place']
const MOST_EXCEPTIONS = 1000
/** Routes are a bounded set, but a handler may stand behind any. */
const MOST_ROUTES = 10_000

/** Gives the exceptions of a route, or `null` where there are none. Faults are added to the list. */
export function compileExceptions(
  exceptions: readonly WafException[],
  place: string,
  faults: ConfigFault[],
): (route: string) => RouteExceptions | null {
  if (!Array.isArray(exceptions) || exceptions.length > MOST_EXCEPTIONS) {
    faults.push({
      place,
      problem: `it is no list of at most ${MOST_EXCEPTIONS}`,
      fix: 'Write an array of objects.',
    })
    return () => null
  }
  const compiled = exceptions.map((exception, i) => compile(exception, `${place}[${i}]`, faults))
  if (compiled.length === 0) return () => null
  const routes = new Map<string, RouteExceptions | null>()
  return route => {
    let found = routes.get(route)
    if (found === undefined) {
      const path = route.replace(/^\S+ /, '')
      found = forRoute(
        compiled.filter(one => one.route === undefined || one.route === route || one.route === path),
      )
      if (routes.size < MOST_ROUTES) routes.set(route, found)
    }
    return found
  }
}

interface Compiled {
  readonly route: string | undefined
  readonly fits: Excepted
}

function compile(exception: WafException, place: string, faults: ConfigFault[]): Compiled {
  const { route, rule, category, place: where } = exception
  const add = (problem: string, fix: string): void => void faults.push({ place, problem, fix })
  for (const name of Object.keys(exception)) {
    if (!NAMES.includes(name)) add(`there is no ${name} in an exception`, `Choose of ${NAMES.join(', ')}.`)
  }
  for (const [name, value] of [
    ['route', route],
    ['rule', rule],
    ['place', where],
  ] as const) {
    if (value !== undefined && (typeof value !== 'string' || value === '' || value.length > 256)) {
      add(`its ${name} is no text of 1 to 256 characters`, 'Write a string.')
    }
  }
  if (category !== undefined && !CATEGORIES.includes(category)) {
    add(`${JSON.stringify(category)} is no category`, `Choose of ${CATEGORIES.join(', ')}.`)
  }
  if (rule === undefined && category === undefined && where === undefined) {
    add(
      'it would except everything',
      'Give a rule, a category or a place; or leave the WAF out of that route.',
    )
  }
  const rules = typeof rule === 'string' ? glob(rule) : null
  const places = typeof where === 'string' ? glob(where) : null
  return {
    route,
    fits: (id, kind, at) =>
      (category === undefined || category === kind) && (rules?.(id) ?? true) && (places?.(at) ?? true),
  }
}

function forRoute(compiled: readonly Compiled[]): RouteExceptions | null {
  if (compiled.length === 0) return null
  const findings: Excepted = (rule, category, place) => compiled.some(one => one.fits(rule, category, place))
  return { findings, violation: ({ rule, place }) => findings(rule, 'protocol', place) }
}

/** A text with `*` for any text. Each piece is looked for once, from left to right: no backtracking. */
export function glob(pattern: string): (text: string) => boolean {
  const pieces = pattern.split('*')
  const first = pieces[0]!
  if (pieces.length === 1) return text => text === first
  const last = pieces.at(-1)!
  const middle = pieces.slice(1, -1).filter(piece => piece !== '')
  return text => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    const end = text.length - last.length
    let at = first.length
    for (const piece of middle) {
      const found = text.indexOf(piece, at)
      if (found === -1 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}
