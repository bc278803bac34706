/** The engine of the package: patterns over normalised values, added up to a score. */
import { ConfigError, type ConfigFault } from '@postern/core'
import { type ReadOptions, reader } from '../body/index.ts'
import { checkPattern, MOST_PATTERNS } from '../patterns/check.ts'
import { patterns as own } from '../patterns/index.ts'
import type { Pattern, Profile } from '../patterns/pattern.ts'
import { DEFAULT_THRESHOLD } from '../score/score.ts'
import { compileRules, type RuleSet } from './compile.ts'
import { inspector } from './inspector.ts'
import { CATEGORIES, type Category, type Engine } from './types.ts'

/** Options of {@link signatures}. */
export interface SignatureOptions {
  /**
   * `balanced` is meant to stay on in front of any app. `aggressive` finds more and errs more: for admin pages and APIs whose
   * values are ids and numbers. Default `balanced`.
   */
  profile?: Profile
  /** Points at which a request is blocked, 1 to 1000; default 5. A higher one asks for more signs at once. */
  threshold?: number
  /** Categories and ids of patterns that do not run; default none. */
  disable?: readonly string[]
  /** Limits and choices of the readers of requests; see {@link ReadOptions}. */
  read?: ReadOptions
  /** Patterns of your own, beside ours; default none. At most 2000. */
  patterns?: readonly Pattern[]
}

const NAMES = ['profile', 'threshold', 'disable', 'patterns', 'read']

/**
 * Makes an engine of signatures. It keeps nothing between requests; `inspect` is synchronous.
 * @throws ConfigError with every fault of the options, each naming the place, the value and the fix.
 * @example signatures({ profile: 'aggressive', disable: ['graphql', 'lfi-traversal'] })
 */
export function signatures(options: SignatureOptions = {}): Engine {
  const faults: ConfigFault[] = []
  const fault = (place: string, problem: string, fix: string): void => {
    faults.push({ place: `signatures.${place}`, problem, fix })
  }
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) fault(name, 'is no option', `Options are ${NAMES.join(', ')}.`)
  }
  const profile = options.profile ?? 'balanced'
  if (profile !== 'balanced' && profile !== 'aggressive') {
    fault('profile', `'${String(profile)}' is no profile`, "Choose 'balanced' or 'aggressive'.")
  }
  const threshold = options.threshold ?? DEFAULT_THRESHOLD
  if (!Number.isSafeInteger(threshold) || threshold < 1 || threshold > 1000) {
    fault('threshold', `${String(threshold)} is no whole number from 1 to 1000`, 'Choose one in that range.')
  }
  const added = Array.isArray(options.patterns) ? (options.patterns as readonly Pattern[]) : []
  if (options.patterns !== undefined && !Array.isArray(options.patterns)) {
    fault('patterns', 'is no list', 'Give an array of patterns.')
  }
  if (added.length > MOST_PATTERNS) {
    fault('patterns', `${added.length} patterns; at most ${MOST_PATTERNS}`, 'Leave some out.')
  }
  const ids = new Set(own.map(pattern => pattern.id))
  added.slice(0, MOST_PATTERNS).forEach((pattern, i) => {
    checkPattern(pattern, `signatures.patterns[${i}]`, ids, faults)
  })
  const all = [...own, ...added]
  const disable = Array.isArray(options.disable) ? (options.disable as readonly string[]) : []
  if (options.disable !== undefined && !Array.isArray(options.disable)) {
    fault('disable', 'is no list', 'Give an array of categories and ids of patterns.')
  }
  disable.forEach((name, i) => {
    if (CATEGORIES.includes(name as Category) || ids.has(name)) return
    fault(
      `disable[${i}]`,
      `'${String(name)}' is neither a category nor a pattern`,
      'See docs/waf-patterns.md.',
    )
  })
  if (faults.length > 0) throw new ConfigError(faults)
  const read = reader(options.read, 'signatures.read')

  const off = new Set<string>(disable)
  const active = all.filter(pattern => !off.has(pattern.id) && !off.has(pattern.category))
  const rules =
    active.length === own.length && added.length === 0 ? ownRules(profile) : compileRules(active, profile)
  const inspect = inspector(rules, threshold)
  return Object.freeze<Engine>({
    name: `signatures:${profile}`,
    inspect(request, excepted = null) {
      inspect.start(excepted)
      return inspect.finish(read(request, inspect.emit))
    },
  })
}

/** Our own patterns are compiled once a profile, however many engines a program makes. */
const compiled = new Map<Profile, RuleSet>()

function ownRules(profile: Profile): RuleSet {
  const known = compiled.get(profile)
  if (known !== undefined) return known
  const rules = compileRules(own, profile)
  compiled.set(profile, rules)
  return rules
}
