/**
 * How servers read a path beyond RFC 3986. Some decode `%2F`, some take a backslash for a slash, some merge empty
 * segments, some cut `;parameters` off; in any combination, and in any order.
 */

/** One liberty that servers take. */
export type PathReading = 'encoded-slash' | 'backslash' | 'empty-segments' | 'parameters'

/** All of them: what is assumed of servers that nobody has told about. */
export const ALL_READINGS: readonly PathReading[] = [
  'encoded-slash',
  'backslash',
  'empty-segments',
  'parameters',
]

/** Characters of all readings together. More is nothing that an application makes, and would cost more than a request may. */
const MOST = 32_768

interface Step {
  readonly reading: PathReading
  readonly read: (path: string) => string
}

// Parameters go before and after the rest: `/a;x%2Fb` is `/a` or `/a/b`, depending on what is done first.
const STEPS: readonly Step[] = [
  { reading: 'parameters', read: withoutParameters },
  { reading: 'parameters', read: path => path.replaceAll('%3B', ';') },
  { reading: 'encoded-slash', read: path => path.replaceAll('%2F', '/') },
  { reading: 'backslash', read: path => path.replaceAll('%5C', '/') },
  { reading: 'parameters', read: withoutParameters },
  { reading: 'empty-segments', read: path => path.replace(/\/{2,}/g, '/') },
]

/** True when servers may disagree about a canonical path. Asked for each request, so it is three searches. */
export function isOpenToReadings(path: string): boolean {
  return path.includes('%') || path.includes(';') || path.includes('//')
}

/** Makes a function that gives all ways to read a canonical path but the one as written; `null` for too many. */
export function readingsBy(allowed: readonly PathReading[]): (path: string) => string[] | null {
  const steps = STEPS.filter(step => allowed.includes(step.reading))
  return function otherReadings(path) {
    const found = [path]
    for (const { read } of steps) {
      for (let i = found.length - 1; i >= 0; i--) {
        const other = read(found[i]!)
        if (found.includes(other)) continue
        if (found.length * path.length > MOST) return null
        found.push(other)
      }
    }
    found.shift()
    return found
  }
}

function withoutParameters(path: string): string {
  return path.includes(';') ? path.replace(/;[^/]*/g, '') : path
}
