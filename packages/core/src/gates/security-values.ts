/** Checks of security header values: what a browser would ignore without a word is a fault when the filter is made. */
import { assertWhole, show } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'

const REFERRER_POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'origin',
  'origin-when-cross-origin',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
]
const YEAR = 31_536_000
const PRINTABLE = /^[\x20-\x7e]{1,4096}$/
const PERMISSION = /^[a-z][a-z0-9-]*=(?:\*|self|\([^()]*\))$/
const DIRECTIVE = /^[a-z][a-z0-9-]*$/i
const BARE_KEYWORD =
  /\s(?:self|none|unsafe-inline|unsafe-eval|strict-dynamic|nonce-\S*|sha(?:256|384|512)-\S*)(?=\s|$)/i

/** One of a few words, or `false`. */
export function checkChoice(
  option: string,
  value: unknown,
  choices: readonly string[],
  faults: ConfigFault[],
): void {
  if (value === false || (typeof value === 'string' && choices.includes(value))) return
  fault(option, value, 'is no value that browsers know', `Choose ${choices.join(', ')}, or false.`, faults)
}

/** `max-age` in range, and `preload` only with what the list asks for. */
export function checkHsts(
  maxAge: number,
  includeSubDomains: boolean,
  preload: boolean,
  faults: ConfigFault[],
): void {
  assertWhole('securityHeaders.hsts.maxAge', maxAge, 0, 2_147_483_647, faults)
  if (preload && (maxAge < YEAR || !includeSubDomains)) {
    const fix = `Set maxAge to ${YEAR} or more and includeSubDomains to true, or leave preload out.`
    fault('hsts.preload', preload, 'is not accepted for the list with these values', fix, faults)
  }
}

/** A policy, or several of which a browser takes the last that it knows. */
export function checkReferrerPolicy(value: unknown, faults: ConfigFault[]): void {
  if (value === false) return
  const known =
    typeof value === 'string' && value.split(',').every(one => REFERRER_POLICIES.includes(one.trim()))
  if (!known)
    fault(
      'referrerPolicy',
      value,
      'is no referrer policy',
      `Choose of ${REFERRER_POLICIES.join(', ')}.`,
      faults,
    )
}

/** `feature=(allow list)`, with commas between. */
export function checkPermissionsPolicy(value: unknown, faults: ConfigFault[]): void {
  if (value === false) return
  const fine =
    typeof value === 'string' &&
    PRINTABLE.test(value) &&
    value.split(',').every(member => PERMISSION.test(member.trim()))
  if (!fine)
    fault(
      'permissionsPolicy',
      value,
      'is no permissions policy',
      'Write camera=(), geolocation=(self).',
      faults,
    )
}

/** Directives with `;` between, each name once, keywords in quotes (CSP Level 3, 2.2). */
export function checkContentSecurityPolicy(value: unknown, faults: ConfigFault[]): void {
  if (value === false) return
  const option = 'contentSecurityPolicy'
  if (typeof value !== 'string' || !PRINTABLE.test(value) || value.includes(',')) {
    fault(
      option,
      value,
      'is no policy',
      'Write one line of up to 4096 ASCII characters, directives with ; between.',
      faults,
    )
    return
  }
  const seen = new Set<string>()
  for (const directive of value.split(';')) {
    const text = directive.trim()
    if (text === '') continue
    const name = text.split(/\s/, 1)[0]!.toLowerCase()
    if (!DIRECTIVE.test(name))
      fault(option, name, 'is no directive', 'Write for example default-src.', faults)
    if (seen.has(name))
      fault(option, name, 'stands there twice; browsers take the first', 'Merge the two.', faults)
    seen.add(name)
    const bare = BARE_KEYWORD.exec(text)
    if (bare)
      fault(option, bare[0].trim(), 'is a keyword without quotes', `Write '${bare[0].trim()}'.`, faults)
  }
  if (seen.size === 0)
    fault(option, value, 'has no directive', "Write for example default-src 'self', or false.", faults)
}

function fault(option: string, value: unknown, problem: string, fix: string, faults: ConfigFault[]): void {
  faults.push({ place: `securityHeaders.${option}`, problem: `${show(value)} ${problem}`, fix })
}
