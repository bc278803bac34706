/** Operators that compare bytes with a text, which may hold macros. Case matters. */
import type { LiteralSet } from '../regex/literals.ts'
import { ANY_VALUE, type Operator, type OperatorFactory } from './operator.ts'

type Compare = (value: string, argument: string) => boolean

const comparing = (compare: Compare, holdsArgument: boolean): OperatorFactory => {
  const fixed = (argument: string): Operator => ({
    literals: holdsArgument ? literalOf(argument) : ANY_VALUE,
    match: value => compare(value.text, argument),
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
export const streq: OperatorFactory = comparing((value, argument) => value === argument, true)
/** `@contains`: the argument occurs in the value. */
export const contains: OperatorFactory = comparing((value, argument) => value.includes(argument), true)
/** `@strmatch`: the same, by its old name. */
export const strmatch: OperatorFactory = contains
/** `@beginsWith`. */
export const beginsWith: OperatorFactory = comparing((value, argument) => value.startsWith(argument), true)
/** `@endsWith`. */
export const endsWith: OperatorFactory = comparing((value, argument) => value.endsWith(argument), true)
/** `@within`: the value occurs in the argument. */
export const within: OperatorFactory = comparing((value, argument) => argument.includes(value), false)
/** `@containsWord`: the argument occurs between word borders. */
export const containsWord: OperatorFactory = comparing((value, argument) => {
  if (argument === '') return true
  for (let at = value.indexOf(argument); at !== -1; at = value.indexOf(argument, at + 1)) {
    if (!isWord(value, at - 1) && !isWord(value, at + argument.length)) return true
  }
  return false
}, true)

function isWord(value: string, at: number): boolean {
  return at >= 0 && at < value.length && /\w/.test(value[at]!)
}
