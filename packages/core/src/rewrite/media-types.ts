/** Which types a filter is for. */
import { kindOf, type Rule, show } from '../config/check.ts'

const TOKEN = "[!#$%&'+\\-.^_`|~0-9a-z]+"
const PATTERN = new RegExp(`^(?:\\*/\\*|${TOKEN}/\\*|\\*/\\*\\+${TOKEN}|${TOKEN}/${TOKEN})$`)

/** Types of text, which shrink well and which an edit can read. */
export const TEXT_TYPES: readonly string[] = [
  ...['text/*', '*/*+json', '*/*+xml', 'application/json', 'application/javascript', 'application/xml'],
  ...['application/x-javascript', 'application/x-ndjson', 'application/graphql', 'application/sql'],
]

// Exact types, kinds (`text/…`), suffixes of RFC 6839 (`+json`), or all; in lower case.
export const mediaTypes: Rule = {
  check(place, value, faults) {
    const fix = "Write an array of types like 'text/*', '*/*+json' or 'application/json'."
    if (!Array.isArray(value))
      return void faults.push({ place, problem: `it is ${kindOf(value)}, not an array`, fix })
    for (const one of value) {
      if (typeof one !== 'string' || !PATTERN.test(one))
        faults.push({ place, problem: `${show(one)} is no type`, fix })
    }
  },
}

/** A test of `Content-Type` values; parameters and case do not matter. */
export function typeTest(patterns: readonly string[]): (contentType: string | undefined) => boolean {
  const exact = new Set<string>()
  const kinds = new Set<string>()
  const suffixes: string[] = []
  let all = false
  for (const pattern of patterns) {
    if (pattern === '*/*') all = true
    else if (pattern.startsWith('*/*+')) suffixes.push(pattern.slice(3))
    else if (pattern.endsWith('/*')) kinds.add(pattern.slice(0, -1))
    else exact.add(pattern)
  }
  return contentType => {
    if (contentType === undefined) return false
    if (all) return true
    const end = contentType.indexOf(';')
    const type = (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
    if (exact.has(type) || kinds.has(type.slice(0, type.indexOf('/') + 1))) return true
    return suffixes.some(suffix => type.endsWith(suffix))
  }
}
