/** Which coding a client wants (RFC 9110, 12.5.3). */
import { CODINGS, type Coding, codingOf } from '../body/coding/codings.ts'

/** Members of a list that are read; what a browser sends has five. */
const MOST_MEMBERS = 32
const MEMBER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
/** Values whose answer is kept, and the longest of them. */
const MOST_KEPT = 128
const LONGEST_KEPT = 128

/** What is best for a client. */
export interface Choice {
  /** `null`: none. */
  readonly coding: Coding | null
  /** False when the client says that it does not take a body without a coding. */
  readonly identity: boolean
}

const NOTHING_SAID: Choice = { coding: null, identity: true }

/** Chooses among `offers`, the first of which is preferred where the client does not mind. Keeps what it chose for common values. */
export function chooser(offers: readonly Coding[]): (value: string | undefined) => Choice {
  const kept = new Map<string, Choice>()
  return value => {
    if (value === undefined) return NOTHING_SAID
    let choice = kept.get(value)
    if (choice === undefined) {
      choice = choose(value, offers)
      if (value.length <= LONGEST_KEPT && kept.size < MOST_KEPT) kept.set(value, choice)
    }
    return choice
  }
}

function choose(value: string, offers: readonly Coding[]): Choice {
  const weights = weightsOf(value)
  const others = weights.get('*')
  // Without a word about it, no coding is always acceptable, and worth less than what is named.
  const identity = weights.get('identity') ?? (others === 0 ? 0 : undefined)
  let best: Coding | null = null
  let weight = 0
  for (const offer of offers) {
    const its = weights.get(offer) ?? (offer === 'gzip' ? weights.get('x-gzip') : undefined) ?? others ?? 0
    if (its > weight) {
      best = offer
      weight = its
    }
  }
  if (identity !== undefined && identity > weight) best = null
  return { coding: best, identity: identity !== 0 }
}

function weightsOf(value: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of value.split(',', MOST_MEMBERS)) {
    const member = MEMBER.exec(part.trim())
    if (member === null) continue
    const name = member[1]!.toLowerCase()
    // Said twice: the first one counts.
    if (!weights.has(name)) weights.set(name, member[2] === undefined ? 1 : Number(member[2]))
  }
  return weights
}

/** The value without what cannot be undone here: `identity` when nothing is left, or when nothing was said. */
export function decodableOnly(value: string | undefined): string {
  if (value === undefined) return 'identity'
  const kept: string[] = []
  const named = new Set<Coding>()
  let others: string | null = null
  for (const part of value.split(',', MOST_MEMBERS)) {
    const member = MEMBER.exec(part.trim())
    if (member === null) continue
    const name = member[1]!.toLowerCase()
    const coding = codingOf(name)
    if (coding !== null) named.add(coding)
    if (coding !== null || name === 'identity') kept.push(member[0])
    else if (name === '*') others = member[2] ?? '1'
  }
  if (others !== null) {
    for (const coding of CODINGS) if (!named.has(coding)) kept.push(`${coding};q=${others}`)
    if (Number(others) === 0 && !kept.some(member => /^identity/i.test(member))) kept.push('identity;q=0')
  }
  return kept.length === 0 ? 'identity' : kept.join(', ')
}
