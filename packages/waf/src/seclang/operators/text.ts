/** Operators that compare bytes with a text, which may hold macros. Case matters. */
import type { LiteralSet } from '../regex/literals.ts'
import { ANY_VALUE, type Operator, type OperatorFactory } from './operator.ts'

type Compare = (value: string, argument: string) => boolean

/** Where the argument stands in a value that matches. */
type Find = (value: string, argument: string) => number

const comparing = (compare: Compare, holdsArgument: boolean, find: Find): OperatorFactory => {
  const fixed = (argument: string): Operator => ({
    literals: holdsArgument ? literalOf(argument) : ANY_VALUE,
    match: value => compare(value.text, argument),
    offset: value => find(value.text, argument),
  })
  return (text, source) => {
    const argument = source.macro(text)
    if (argument.constant !== null) return fixed(argument.constant)
    return {
      literals: ANY_VALUE,
      depends: { argument, fixed },
      match: (value, context) => compare(value.text, context.expand(argument)),
    }
  }
}

function literalOf(argument: string): readonly LiteralSet[] {
  return argument === '' ? ANY_VALUE : [[argument.slice(0, 8).replace(/[A-Z]+/g, part => part.toLowerCase())]]
}

/** `@streq`: equal. */
export const streq: OperatorFactory = comparing(
  (value, argument) => value === argument,
  true,
  () => 0,
)
/** `@contains`: the argument occurs in the value. */
export const contains: OperatorFactory = comparing((value, argument) => value.includes(argument), true, first)
/** `@strmatch`: the same, by its old name. */
export const strmatch: OperatorFactory = contains
/** `@beginsWith`. */
export const beginsWith: OperatorFactory = comparing(
  (value, argument) => value.startsWith(argument),
  true,
  () => 0,
)
/** `@endsWith`. */
export const endsWith: OperatorFactory = comparing((value, argument) => value.endsWith(argument), true, last)
/** `@within`: the value occurs in the argument. */
export const within: OperatorFactory = comparing(
  (value, argument) => argument.includes(value),
  false,
  () => 0,
)
/** `@containsWord`: the argument occurs between word borders. */
export const containsWord: OperatorFactory = comparing(
  (value, argument) => firstWord(value, argument) !== -1,
  true,
  firstWord,
)

function first(value: string, argument: string): number {
  return value.indexOf(argument)
}

function last(value: string, argument: string): number {
  return value.length - argument.length
}

function firstWord(value: string, argument: string): number {
  if (argument === '') return 0
  for (let at = value.indexOf(argument); at !== -1; at = value.indexOf(argument, at + 1)) {
    if (!isWord(value, at - 1) && !isWord(value, at + argument.length)) return at
  }
  return -1
}

function isWord(value: string, at: number): boolean {
  return at >= 0 && at < value.length && /\w/.test(value[at]!)
}
