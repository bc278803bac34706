/** Command lines of the bench: long flags with a value each, checked before anything starts. */
import { parseArgs } from 'node:util'

/** A command line that cannot be used. Its message is one sentence. */
export class UsageError extends Error {}

/**
 * Reads `--name value` flags; `defaults` holds the known names, `undefined` stands for a required one.
 * @example parseFlags(['--port', '8080'], { port: undefined, path: '/' }) // { port: '8080', path: '/' }
 * @throws UsageError for an unknown flag, a missing value or a missing flag.
 */
export function parseFlags(argv, defaults) {
  const options = Object.fromEntries(Object.keys(defaults).map(name => [name, { type: 'string' }]))
  let values
  try {
    values = parseArgs({ args: argv, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error.message)
  }
  const flags = { ...defaults, ...values }
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined) throw new UsageError(`--${name} is missing`)
  }
  return flags
}

/** A whole number within bounds. @throws UsageError otherwise. */
export function whole(name, text, min, max) {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) {
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not '${text}'`)
  }
  return value
}

/** The origin of an `http:` URL, without path. @throws UsageError otherwise. */
export function httpOrigin(name, text) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' || url.pathname !== '/' || url.search !== '' || url.username !== '') {
    throw new UsageError(`--${name} must be http://host:port, not '${text}'`)
  }
  return url.origin
}

/** The names of a comma-separated list, each of them known. @throws UsageError otherwise. */
export function names(name, text, known) {
  const list = text.split(',').filter(item => item !== '')
  for (const item of list) {
    if (!known.includes(item)) throw new UsageError(`--${name} does not know '${item}'`)
  }
  return [...new Set(list)]
}

/** Runs `read`; a command line that cannot be used ends the process with the usage text and code 2. */
export function orUsage(usage, read) {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n${usage}\n`)
    process.exit(2)
  }
}
