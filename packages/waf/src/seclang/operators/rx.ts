import { Mistake } from '../parse/fault.ts'
import { requiredLiterals } from '../regex/literals.ts'
import { Regex } from '../regex/regex.ts'
import { RegexError } from '../regex/syntax.ts'
import type { OperatorFactory } from './operator.ts'

/** `@rx`: a regular expression, in linear time. `.` takes line feeds, `$` is the very end, matching is not anchored. */
export const rx: OperatorFactory = argument => {
  const regex = compile(argument)
  return {
    literals: requiredLiterals(regex.root),
    match(value, context, captures) {
      if (!captures) return regex.test(value)
      const found = regex.exec(value)
      if (found === null) return false
      context.capture(() => found.groups())
      return true
    },
    offset: value => regex.exec(value)?.start ?? -1,
  }
}

function compile(pattern: string): Regex {
  try {
    return new Regex(pattern)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    throw new Mistake(`regular expression: ${error.message}`, 'Write it without that, or as several rules.')
  }
}
