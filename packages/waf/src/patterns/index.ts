/** All patterns of the package. */
import { data } from './data.ts'
import { files } from './files.ts'
import { objects } from './objects.ts'
import type { Pattern } from './pattern.ts'
import { protocol } from './protocol.ts'
import { rceCode } from './rce-code.ts'
import { rceShell } from './rce-shell.ts'
import { sqliLogic } from './sqli-logic.ts'
import { sqliQuery } from './sqli-query.ts'
import { xssMarkup } from './xss-markup.ts'
import { xssScript } from './xss-script.ts'

/** The patterns, in the order in which they are told in docs/waf-patterns.md. */
export const patterns: readonly Pattern[] = Object.freeze([
  ...sqliLogic,
  ...sqliQuery,
  ...xssMarkup,
  ...xssScript,
  ...rceShell,
  ...rceCode,
  ...files,
  ...data,
  ...objects,
  ...protocol,
])
