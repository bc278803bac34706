import { detectSqli } from '../detect/sqli/detect.ts'
import { detectXss } from '../detect/xss/detect.ts'
import { ANY_VALUE, type OperatorFactory } from './operator.ts'

/** `@detectSQLi`: the value completes or is SQL. With `capture`, `TX:0` is the fingerprint. */
export const detectSqlInjection: OperatorFactory = () => ({
  literals: ANY_VALUE,
  match({ text }, context, captures) {
    const fingerprint = detectSqli(text)
    if (fingerprint === null) return false
    if (captures) context.capture(() => [fingerprint])
    return true
  },
})

/** `@detectXSS`: the value can run script when a page shows it. With `capture`, `TX:0` is the value. */
export const detectScriptInjection: OperatorFactory = () => ({
  literals: [['<', '=']],
  match({ text }, context, captures) {
    if (!detectXss(text)) return false
    if (captures) context.capture(() => [text])
    return true
  },
})
