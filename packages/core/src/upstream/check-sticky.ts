/** Checks the option `sticky`. */
import { oneOf, readOptions, something, type Table, whole } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import { isFieldName } from '../headers/list.ts'
import { Affinity, type StickyOptions } from './sticky.ts'

const RULES: Table<StickyOptions> = {
  cookie: something(
    'the name of a cookie',
    value => typeof value === 'string' && isFieldName(value),
    "Write for example 'sticky'.",
  ),
  secret: something(
    'a secret of 16 bytes at least',
    value => (typeof value === 'string' || value instanceof Uint8Array) && value.length >= 16,
    'Give a random one of 32.',
  ),
  path: something(
    'a path',
    value => typeof value === 'string' && /^\/[!-:<-~]*$/.test(value),
    "Write for example '/'.",
  ),
  sameSite: oneOf('Strict', 'Lax', 'None'),
  secure: something("true, false or 'auto'", value => value === 'auto' || typeof value === 'boolean'),
  maxAge: whole(1, 34_560_000),
}

/** What keeps clients with their targets; `null` when nothing does. */
export function checkSticky(
  given: boolean | StickyOptions | undefined,
  place: string,
  faults: ConfigFault[],
): Affinity | null {
  if (given === undefined || given === false) return null
  const here = `${place}.sticky`
  const options = readOptions<StickyOptions>(here, given === true ? {} : given, RULES, faults)
  const { cookie = 'sticky', path = '/', sameSite, secure } = options
  const add = (name: string, problem: string, fix: string): void =>
    void faults.push({ place: `${here}.${name}`, problem, fix })
  if (/^__(?:host|secure)-/i.test(cookie) && secure !== true) {
    add('secure', `browsers drop ${cookie} without Secure`, 'Set secure: true.')
  } else if (sameSite === 'None' && secure !== true) {
    add('secure', 'browsers drop SameSite=None without Secure', 'Set secure: true.')
  }
  if (/^__host-/i.test(cookie) && path !== '/') add('path', `${cookie} needs the path /`, "Write '/'.")
  return new Affinity(options)
}
