import { lowercase } from './case.ts'

/**
 * `cmdLine`: a shell's view of a command. Quotes, `\` and `^` go, separators become one blank, blanks before `/` and `(` go,
 * letters are lower case.
 */
export function cmdLine(value: string): string {
  return lowercase(
    value
      .replace(/["'\\^]+/g, '')
      .replace(/[\t\n\r ,;]+/g, ' ')
      .replace(/ (?=[/(])/g, ''),
  )
}
