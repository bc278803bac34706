/**
 * What any match of a pattern must contain.
 *
 * The answer is a conjunction of sets: a value can only match if it holds, in any case, at least one string of each set.
 * It may say too little, never too much; a property test holds it to that.
 */
import { has, members } from './byte-set.ts'
import type { Node } from './syntax.ts'

/** Strings, lower case, of which a match holds at least one. */
export type LiteralSet = readonly string[]

/** Longer literals are cut: the rest adds states to the scanner and little precision. */
const MAX_LITERAL = 8
/** Bytes of a class that are still told apart. */
const MAX_CLASS = 16
/** Strings of one product of parts. */
const MAX_PRODUCT = 256
/** Strings of one set. */
const MAX_SET = 4000
/** Sets that are kept for a pattern. */
const MAX_SETS = 3

interface Facts {
  /** Every string that the part can match; `null` when they are too many. */
  readonly exact: readonly string[] | null
  readonly sets: readonly LiteralSet[]
}

const NOTHING: Facts = { exact: null, sets: [] }

/** Sets of literals that each match must meet, the most telling first; empty when there are none. */
export function requiredLiterals(root: Node): LiteralSet[] {
  const facts = factsOf(root)
  return withExact(facts)
    .map(reduce)
    .filter(set => set.length > 0)
    .sort((a, b) => worth(b) - worth(a))
    .slice(0, MAX_SETS)
}

function factsOf(node: Node): Facts {
  switch (node.kind) {
    case 'assert':
      return { exact: [''], sets: [] }
    case 'set': {
      // Upper case folds away; the set without it says as much.
      const bytes = members(node.set).filter(
        byte => !(byte >= 0x41 && byte <= 0x5a && has(node.set, byte | 0x20)),
      )
      if (bytes.length > MAX_CLASS) return NOTHING
      return { exact: [...new Set(bytes.map(byte => String.fromCharCode(byte).toLowerCase()))], sets: [] }
    }
    case 'capture':
      return factsOf(node.part)
    case 'alt':
      return alternatives(node.parts)
    case 'cat':
      return sequence(node.parts)
    case 'repeat':
      return repeated(node)
  }
}

function alternatives(parts: readonly Node[]): Facts {
  const all = parts.map(factsOf)
  const count = all.reduce((sum, { exact }) => sum + (exact?.length ?? MAX_SET + 1), 0)
  if (count <= MAX_SET) return { exact: [...new Set(all.flatMap(({ exact }) => exact!))], sets: [] }
  const union = new Set<string>()
  for (const facts of all) {
    const best = withExact(facts).sort((a, b) => worth(b) - worth(a))[0]
    if (best === undefined) return NOTHING
    for (const literal of best) union.add(literal)
  }
  return { exact: null, sets: union.size <= MAX_SET ? [[...union]] : [] }
}

function sequence(parts: readonly Node[]): Facts {
  const sets: LiteralSet[] = []
  let product: readonly string[] = ['']
  let whole = true
  const flush = (): void => {
    whole = false
    if (usable(product)) sets.push(product)
  }
  for (const part of parts) {
    const facts = factsOf(part)
    if (facts.exact === null) {
      flush()
      product = ['']
      sets.push(...facts.sets)
    } else if (product.length * facts.exact.length <= MAX_PRODUCT || product.length === 1) {
      const { exact } = facts
      product = [...new Set(product.flatMap(head => exact.map(tail => head + tail)))]
    } else {
      flush()
      product = facts.exact
    }
  }
  if (whole) return { exact: product, sets: [] }
  flush()
  return { exact: null, sets }
}

function repeated(node: Node & { kind: 'repeat' }): Facts {
  const facts = factsOf(node.part)
  if (node.min === 0) {
    const optional = node.max === 1 && facts.exact !== null
    return optional ? { exact: [...new Set([...facts.exact, ''])], sets: [] } : NOTHING
  }
  if (node.min === 1 && node.max === 1) return facts
  if (
    node.min === node.max &&
    facts.exact?.length === 1 &&
    facts.exact[0]!.length * node.min <= MAX_LITERAL
  ) {
    return { exact: [facts.exact[0]!.repeat(node.min)], sets: [] }
  }
  return { exact: null, sets: withExact(facts) }
}

function withExact({ exact, sets }: Facts): LiteralSet[] {
  return exact !== null && usable(exact) ? [...sets, exact] : [...sets]
}

function usable(strings: readonly string[]): boolean {
  return strings.length > 0 && strings.length <= MAX_SET && !strings.includes('')
}

/** Long literals tell much, many literals tell little. */
function worth(set: LiteralSet): number {
  let shortest = MAX_LITERAL
  for (const { length } of set) shortest = Math.min(shortest, length)
  return shortest * 4 - Math.log2(set.length)
}

/** Cuts long literals, then leaves out those that hold another one. */
function reduce(set: LiteralSet): LiteralSet {
  const cut = [...new Set(set.map(literal => literal.slice(0, MAX_LITERAL)))].sort(
    (a, b) => a.length - b.length,
  )
  const kept = new Set<string>()
  for (const literal of cut) {
    if (!holdsOne(literal, kept)) kept.add(literal)
  }
  return [...kept]
}

function holdsOne(literal: string, kept: ReadonlySet<string>): boolean {
  for (let from = 0; from < literal.length; from++) {
    for (let to = from + 1; to <= literal.length; to++) {
      if (kept.has(literal.slice(from, to))) return true
    }
  }
  return false
}
