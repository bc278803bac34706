/** Operators that find numbers of cards and people: a pattern finds digits, a checksum confirms them. */
import { Mistake } from '../parse/fault.ts'
import { requiredLiterals } from '../regex/literals.ts'
import { Regex } from '../regex/regex.ts'
import { Subject } from '../regex/subject.ts'
import { RegexError } from '../regex/syntax.ts'
import type { OperatorFactory } from './operator.ts'

/** Places of one value that are tried. */
const MAX_TRIES = 100

const verifying =
  (verify: (digits: string) => boolean): OperatorFactory =>
  argument => {
    const regex = compile(argument)
    return {
      literals: requiredLiterals(regex.root),
      match(value, context, captures) {
        let rest = value.text
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const found = regex.exec(tries === 0 ? value : new Subject(rest))
          if (found === null) return false
          const text = rest.slice(found.start, found.end)
          if (verify(text.replace(/[^0-9kK]+/g, ''))) {
            if (captures) context.capture(() => [text])
            return true
          }
          rest = rest.slice(Math.max(found.end, found.start + 1))
        }
        return false
      },
    }
  }

function compile(pattern: string): Regex {
  try {
    return new Regex(pattern)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    throw new Mistake(`regular expression: ${error.message}`, 'Write it without that.')
  }
}

/** `@verifyCC`: a card number (Luhn). */
export const verifyCreditCard: OperatorFactory = verifying(digits => {
  const number = digits.replace(/\D/g, '')
  if (number.length < 12 || number.length > 19) return false
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number[number.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
})

/** `@verifySSN`: a number of US social security that can have been given out. */
export const verifySsn: OperatorFactory = verifying(digits => {
  if (!/^\d{9}$/.test(digits) || digits === '123456789') return false
  const area = Number(digits.slice(0, 3))
  if (area === 0 || area === 666 || area >= 740) return false
  return digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !/^(\d)\1{8}$/.test(digits)
})

/** `@verifyCPF`: a Brazilian tax number. */
export const verifyCpf: OperatorFactory = verifying(digits => {
  if (!/^\d{11}$/.test(digits) || /^(\d)\1{10}$/.test(digits)) return false
  const check = (length: number): number => {
    let sum = 0
    for (let i = 0; i < length; i++) sum += Number(digits[i]) * (length + 1 - i)
    const rest = (sum * 10) % 11
    return rest === 10 ? 0 : rest
  }
  return check(9) === Number(digits[9]) && check(10) === Number(digits[10])
})

/** `@verifySVNR`: an Austrian social insurance number. */
export const verifySvnr: OperatorFactory = verifying(digits => {
  if (!/^\d{10}$/.test(digits) || digits[0] === '0') return false
  const weights = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]
  const sum = weights.reduce((total, weight, i) => total + weight * Number(digits[i]), 0)
  return sum % 11 === Number(digits[3])
})
