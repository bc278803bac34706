/** Operators that compare whole numbers, as C's `atoi` reads them. */
import { ANY_VALUE, type Operator, type OperatorFactory } from './operator.ts'

/** Above this, digits no longer fit a double exactly. */
const SAFE_DIGITS = 15

/** Leading blanks, a sign and digits; the rest is ignored, and a text without digits is 0. */
export function integerOf(text: string): number | bigint {
  let at = 0
  while (
    at < text.length &&
    (text.charCodeAt(at) === 0x20 || (text.charCodeAt(at) >= 9 && text.charCodeAt(at) <= 13))
  )
    at += 1
  const negative = text[at] === '-'
  if (negative || text[at] === '+') at += 1
  const first = at
  let number = 0
  while (at < text.length) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) break
    number = number * 10 + digit
    at += 1
  }
  if (at - first <= SAFE_DIGITS) return negative ? -number : number
  const exact = BigInt(text.slice(first, at))
  return negative ? -exact : exact
}

const comparing = (
  compare: (value: number | bigint, argument: number | bigint) => boolean,
): OperatorFactory => {
  const fixed = (text: string): Operator => {
    const bound = integerOf(text)
    return { literals: ANY_VALUE, bound, match: value => compare(integerOf(value.text), bound) }
  }
  return (text, source) => {
    const argument = source.macro(text)
    if (argument.constant !== null) return fixed(argument.constant)
    return {
      literals: ANY_VALUE,
      depends: { argument, fixed },
      match: (value, context) => compare(integerOf(value.text), integerOf(context.expand(argument))),
    }
  }
}

// biome-ignore lint/suspicious/noDoubleEquals: a number and a big integer of the same size are equal here.
export const eq: OperatorFactory = comparing((value, argument) => value == argument)
export const ge: OperatorFactory = comparing((value, argument) => value >= argument)
export const gt: OperatorFactory = comparing((value, argument) => value > argument)
export const le: OperatorFactory = comparing((value, argument) => value <= argument)
export const lt: OperatorFactory = comparing((value, argument) => value < argument)
