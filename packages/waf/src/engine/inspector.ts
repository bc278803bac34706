/** Looks at the values of one request after another and collects findings. Nothing is kept between requests. */
import type { Emit, Place, Section } from '../body/types.ts'
import { type Encoding, type ViewName, viewer } from '../normalise/views.ts'
import { BORDER } from '../patterns/first.ts'
import { tally } from '../score/score.ts'
import type { Rule, RuleSet } from './compile.ts'
import { excerpt } from './excerpt.ts'
import type { Excepted, Finding, Inspection, Violation } from './types.ts'

/** Findings that are kept; past them the request has long been blocked, or its rules are in shadow mode. */
export const MOST_FINDINGS = 64
/** Values that are looked at; a request with more is blocked by the rule `protocol-values`. */
export const MOST_VALUES = 100_000

const ENCODINGS: Readonly<Record<Section, Encoding>> = {
  path: 'percent',
  query: 'form',
  cookie: 'percent',
  header: 'plain',
  form: 'form',
  multipart: 'plain',
  json: 'plain',
  xml: 'plain',
  graphql: 'plain',
  text: 'plain',
}

/** Encoding that a back end undoes in a part of the request. */
export function encodingOf(section: Section): Encoding {
  return ENCODINGS[section]
}

export interface Inspector {
  start(excepted: Excepted | null): void
  readonly emit: Emit
  finish(violation: Violation | null): Inspection
}

const NONE: readonly Finding[] = Object.freeze([])

/** Makes an inspector. Not re-entrant: one request at a time, start to finish, which is synchronous. */
export function inspector(set: RuleSet, threshold: number): Inspector {
  const { rules, ruleOf, indexOf, sets, precede, follow, machine } = set
  const { columns, next, shift, firstEnd, starts, words, lengths } = set.automaton
  const score = tally()
  let findings: Finding[] | null = null
  let values = 0
  let isExcepted: Excepted | null = null

  // A rule has spoken in this place when its mark equals the number of the place.
  const marks = new Float64Array(rules.length)
  let placeNumber = 0
  let place: Place
  let written: string | null = null
  // Something was found in this place.
  let spoke = false

  // The last question about what stands in front of a literal, and its answer.
  let asked = -1
  let askedAt = 0
  let answer = false

  const view = viewer(scan)

  function scan(_name: ViewName, bytes: Uint8Array, length: number): void {
    // Locals: what a closure holds is loaded anew behind every call.
    const table = next
    const column = columns
    const width = shift
    const least = firstEnd
    machine.next()
    asked = -1
    let state = 0
    for (let i = 0; i < length; i += 1) {
      state = table[(state << width) | column[bytes[i]!]!]!
      if (state >= least) confirm(state, bytes, i + 1, length)
    }
  }

  function confirm(state: number, bytes: Uint8Array, end: number, length: number): void {
    const last = starts[state - firstEnd + 1]!
    const next = end < length ? bytes[end]! : BORDER
    for (let i = starts[state - firstEnd]!; i < last; i += 1) {
      const word = words[i]!
      // The bytes on both sides rule out most hits in ordinary text.
      if (sets[follow[word]! + next] === 0) continue
      const start = end - lengths[word]!
      if (sets[precede[word]! + (start > 0 ? bytes[start - 1]! : BORDER)] === 0) continue
      if (marks[indexOf[word]!] === placeNumber) continue
      const rule = ruleOf[word]!
      if (rule.afterFirst && rule.after >= 0 && machine.after(rule.after, bytes, end, length) < 0) continue
      if (rule.before >= 0 && !stands(rule.before, bytes, start, length)) continue
      if (!rule.afterFirst && rule.after >= 0 && machine.after(rule.after, bytes, end, length) < 0) continue
      found(rule, bytes, start, length)
    }
  }

  /** Rules with the same literal often ask for the same in front of it, one after the other. */
  function stands(sequence: number, bytes: Uint8Array, start: number, length: number): boolean {
    if (sequence !== asked || start !== askedAt) {
      asked = sequence
      askedAt = start
      answer = machine.before(sequence, bytes, start, length) >= 0
    }
    return answer
  }

  function found(rule: Rule, bytes: Uint8Array, start: number, length: number): void {
    marks[rule.index] = placeNumber
    // Most rules for certain places are for one part of the request: no need to write the place out.
    if (rule.section !== null && rule.section !== place.section) return
    written ??= place.toString()
    const where = written
    if (rule.places !== null && !rule.places.some(part => isAt(where, part))) return
    if (isExcepted?.(rule.id, rule.category, where)) return
    findings ??= []
    spoke = true
    score.add(rule.score)
    if (findings.length >= MOST_FINDINGS) return
    findings.push({
      rule: rule.id,
      category: rule.category,
      severity: rule.severity,
      score: rule.score,
      place: where,
      excerpt: excerpt(bytes, start, length),
      message: rule.message,
    })
  }

  let section: Section = 'path'
  let encoding: Encoding = ENCODINGS.path

  function emit(at: Place, value: string): void {
    if (value.length < 2) return
    values += 1
    if (values > MOST_VALUES) return
    place = at
    written = null
    placeNumber += 1
    if (at.section !== section) {
      section = at.section
      encoding = ENCODINGS[section]
    }
    if (spoke) {
      score.nextPlace()
      spoke = false
    }
    view(value, encoding)
  }

  return {
    emit,
    start(excepted) {
      isExcepted = excepted
      findings = null
      values = 0
      score.start()
    },
    finish(violation) {
      if (values > MOST_VALUES) {
        findings ??= []
        score.nextPlace()
        score.add(threshold)
        findings.push(tooMany(threshold))
      }
      const total = score.total()
      return {
        blocked: violation !== null || total >= threshold,
        score: total,
        threshold,
        findings: findings ?? NONE,
        violation,
      }
    },
  }
}

/** True when the place starts with `part`; with a star in it, when it starts and ends with what is beside the star. */
function isAt(where: string, part: string): boolean {
  const star = part.indexOf('*')
  if (star < 0) return where.startsWith(part)
  return where.startsWith(part.slice(0, star)) && where.toLowerCase().endsWith(part.slice(star + 1))
}

function tooMany(threshold: number): Finding {
  return {
    rule: 'protocol-values',
    category: 'protocol',
    severity: 'medium',
    score: threshold,
    place: 'request',
    excerpt: '',
    message: `More than ${MOST_VALUES} values: the rest was not looked at`,
  }
}
