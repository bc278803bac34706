import { ANY_VALUE, type OperatorFactory } from './operator.ts'

/** `@unconditionalMatch`: every value. */
export const unconditionalMatch: OperatorFactory = () => ({ literals: ANY_VALUE, match: () => true })

/** `@noMatch`: no value. */
export const noMatch: OperatorFactory = () => ({ literals: ANY_VALUE, match: () => false })
