/** Checks of patterns that a user gives. Ours pass the same in a test. */
import { ConfigError, type ConfigFault } from '@postern/core'
import { CATEGORIES } from '../engine/types.ts'
import type { Pattern } from './pattern.ts'
import { Assembler } from './program.ts'

/** Patterns that a user may add. */
export const MOST_PATTERNS = 2000
const MOST_LITERALS = 500
const MOST_LENGTH = 200

/** Adds a fault for everything that is wrong with a pattern. Its id joins `ids`. */
export function checkPattern(pattern: Pattern, place: string, ids: Set<string>, faults: ConfigFault[]): void {
  const fault = (name: string, problem: string, fix: string): void => {
    faults.push({ place: `${place}.${name}`, problem, fix })
  }
  if (typeof pattern !== 'object' || pattern === null) {
    faults.push({ place, problem: 'is no pattern', fix: 'See docs/waf-patterns.md.' })
    return
  }
  for (const name of Object.keys(pattern)) {
    if (!NAMES.includes(name)) fault(name, 'is no part of a pattern', `Parts are ${NAMES.join(', ')}.`)
  }
  if (
    typeof pattern.id !== 'string' ||
    !/^[a-z0-9]+(-[a-z0-9]+)+$/.test(pattern.id) ||
    pattern.id.length > 80
  ) {
    fault('id', `'${String(pattern.id)}' is no id`, 'Use lower case, digits and dashes: `sqli-union-select`.')
  } else if (ids.has(pattern.id)) {
    fault('id', `'${pattern.id}' is taken`, 'Choose another.')
  }
  ids.add(pattern.id)
  if (!CATEGORIES.includes(pattern.category)) {
    fault(
      'category',
      `'${String(pattern.category)}' is no category`,
      `Categories are ${CATEGORIES.join(', ')}.`,
    )
  }
  if (!SEVERITIES.includes(pattern.severity)) {
    fault(
      'severity',
      `'${String(pattern.severity)}' is no severity`,
      `Severities are ${SEVERITIES.join(', ')}.`,
    )
  }
  if (typeof pattern.message !== 'string' || pattern.message === '') {
    fault('message', 'is empty', 'Say in a sentence what a hit means.')
  }
  for (const name of ['score', 'aggressive'] as const) {
    const value = pattern[name]
    if (value === undefined && name === 'aggressive') continue
    if (!Number.isInteger(value) || value! < 1 || value! > 5) {
      fault(name, `${String(value)} is no whole number from 1 to 5`, 'Choose one in that range.')
    }
  }
  if (pattern.profile !== undefined && pattern.profile !== 'balanced' && pattern.profile !== 'aggressive') {
    fault('profile', `'${String(pattern.profile)}' is no profile`, "Choose 'balanced' or 'aggressive'.")
  }
  checkTexts(pattern.literals, 1, MOST_LITERALS, (problem, fix) => fault('literals', problem, fix))
  if (Array.isArray(pattern.literals) && pattern.literals.some(literal => !isLiteral(literal))) {
    fault(
      'literals',
      'has one that is empty, too long or not of bytes',
      `Use 1 to ${MOST_LENGTH} characters up to U+00FF.`,
    )
  }
  if (pattern.places !== undefined) {
    checkTexts(pattern.places, 1, 50, (problem, fix) => fault('places', problem, fix))
  }
  checkTexts(pattern.match, 1, 1000, (problem, fix) => fault('match', problem, fix))
  checkTexts(pattern.pass, 1, 1000, (problem, fix) => fault('pass', problem, fix))
  for (const name of ['before', 'after'] as const) {
    try {
      if (name === 'before' && pattern.before !== undefined) new Assembler().sequence(pattern.before, -1)
      if (name === 'after' && pattern.after !== undefined) new Assembler().sequence(pattern.after, 1)
    } catch (error) {
      if (error instanceof ConfigError) throw error
      fault(name, error instanceof Error ? error.message : 'cannot be compiled', 'See docs/waf-patterns.md.')
    }
  }
}

const SEVERITIES = ['low', 'medium', 'high', 'critical']
const NAMES = [
  'id',
  'category',
  'severity',
  'message',
  'score',
  'aggressive',
  'profile',
  'literals',
  'before',
  'after',
  'places',
  'match',
  'pass',
]

function isLiteral(text: unknown): boolean {
  if (typeof text !== 'string' || text.length === 0 || text.length > MOST_LENGTH) return false
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0xff) return false
  return true
}

function checkTexts(
  list: unknown,
  least: number,
  most: number,
  fault: (problem: string, fix: string) => void,
): void {
  if (!Array.isArray(list) || list.some(item => typeof item !== 'string')) {
    fault('is no list of texts', 'Give an array of strings.')
  } else if (list.length < least || list.length > most) {
    fault(`has ${list.length} entries`, `Give ${least} to ${most}.`)
  }
}
