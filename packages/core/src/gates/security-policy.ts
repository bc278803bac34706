/** Options of the security headers, checked and turned into lines and bits once, so that a reply costs one pass. */
import { flag, readOptions, show, strings, type Table, unchecked } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { isFieldName } from '../headers/list.ts'
import { END_TO_END, kindOf } from '../headers/names.ts'
import type { HstsOptions, SecurityHeadersOptions } from './security-headers.ts'
import {
  checkChoice,
  checkContentSecurityPolicy,
  checkHsts,
  checkPermissionsPolicy,
  checkReferrerPolicy,
} from './security-values.ts'

/** Bit of a name in `remove`: above the bits of the fields. */
export const REMOVED: number = 1 << 9
/** Names are looked up by length and first letter, so that all but a few cost one read. */
const LONGEST_NAME = 63
const PLACES = (LONGEST_NAME + 1) * 32

/** The fields; the place in this list is the bit. */
const FIELDS = [
  ['contentTypeOptions', 'X-Content-Type-Options'],
  ['hsts', 'Strict-Transport-Security'],
  ['frameOptions', 'X-Frame-Options'],
  ['referrerPolicy', 'Referrer-Policy'],
  ['permissionsPolicy', 'Permissions-Policy'],
  ['contentSecurityPolicy', 'Content-Security-Policy'],
  ['crossOriginOpenerPolicy', 'Cross-Origin-Opener-Policy'],
  ['crossOriginEmbedderPolicy', 'Cross-Origin-Embedder-Policy'],
  ['crossOriginResourcePolicy', 'Cross-Origin-Resource-Policy'],
] as const

// Values are checked as what browsers make of them; the table knows the names, and what is plain.
const RULES: Table<SecurityHeadersOptions> = {
  hsts: unchecked,
  contentTypeOptions: flag,
  frameOptions: unchecked,
  referrerPolicy: unchecked,
  permissionsPolicy: unchecked,
  contentSecurityPolicy: unchecked,
  crossOriginOpenerPolicy: unchecked,
  crossOriginEmbedderPolicy: unchecked,
  crossOriginResourcePolicy: unchecked,
  remove: strings,
  override: flag,
}
const HSTS_RULES: Table<HstsOptions> = { maxAge: unchecked, includeSubDomains: flag, preload: flag }

const NOSNIFF = 1 << 0
const HSTS = 1 << 1

type Option = (typeof FIELDS)[number][0]

/** What {@link SecurityHeadersOptions} come to. */
export interface Policy {
  /** Bits of the fields to set. */
  readonly bits: readonly number[]
  /** `[name, value, …]` in the order of `bits`. */
  readonly lines: readonly string[]
  /** Bits of the fields that an option names, also with `false`. */
  readonly named: number
  /** Bits of the fields whose value here wins over the origin's. */
  readonly replacing: number
  /** Bit of the field that goes out over HTTPS only; 0 when it is left to the origin. */
  readonly secureOnly: number
  /** 1 where a name of this length and first letter may be of interest. */
  readonly places: Uint8Array
  /** Bit of each name of interest, in lower case. */
  readonly bitOf: ReadonlyMap<string, number>
}

/** Index of a name in {@link Policy.places}. */
export function placeOf(name: string): number {
  return name.length > LONGEST_NAME ? 0 : name.length * 32 + (name.charCodeAt(0) & 31)
}

/** Checks the options. @throws ConfigError with every fault. */
export function readPolicy(given: SecurityHeadersOptions): Policy {
  const faults: ConfigFault[] = []
  const options = readOptions<SecurityHeadersOptions>('securityHeaders', given, RULES, faults)
  const values = valuesOf(options, faults)
  const { remove = ['Server', 'X-Powered-By'], override = false } = options
  const bitOf = new Map<string, number>()
  const bits: number[] = []
  const lines: string[] = []
  let named = 0
  let set = 0
  for (const [index, [option, name]] of FIELDS.entries()) {
    const bit = 1 << index
    const value = values[option]
    bitOf.set(name.toLowerCase(), bit)
    if (options[option] !== undefined) named |= bit
    if (value === null) continue
    set |= bit
    bits.push(bit)
    lines.push(name, value)
  }
  addRemoved(remove, bitOf, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const places = new Uint8Array(PLACES)
  for (const name of bitOf.keys()) places[placeOf(name)] = 1
  const replacing = override ? set : set & NOSNIFF
  return { bits, lines, named, replacing, secureOnly: set & HSTS, places, bitOf }
}

function valuesOf(options: SecurityHeadersOptions, faults: ConfigFault[]): Record<Option, string | null> {
  const {
    hsts = {},
    contentTypeOptions = true,
    frameOptions = 'SAMEORIGIN',
    referrerPolicy = 'strict-origin-when-cross-origin',
    permissionsPolicy = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    contentSecurityPolicy = false,
    crossOriginOpenerPolicy = false,
    crossOriginEmbedderPolicy = false,
    crossOriginResourcePolicy = false,
  } = options
  checkChoice('frameOptions', frameOptions, ['DENY', 'SAMEORIGIN'], faults)
  checkReferrerPolicy(referrerPolicy, faults)
  checkPermissionsPolicy(permissionsPolicy, faults)
  checkContentSecurityPolicy(contentSecurityPolicy, faults)
  const openers = ['same-origin', 'same-origin-allow-popups', 'noopener-allow-popups', 'unsafe-none']
  checkChoice('crossOriginOpenerPolicy', crossOriginOpenerPolicy, openers, faults)
  const embedders = ['require-corp', 'credentialless', 'unsafe-none']
  checkChoice('crossOriginEmbedderPolicy', crossOriginEmbedderPolicy, embedders, faults)
  const resources = ['same-origin', 'same-site', 'cross-origin']
  checkChoice('crossOriginResourcePolicy', crossOriginResourcePolicy, resources, faults)
  return {
    contentTypeOptions: contentTypeOptions ? 'nosniff' : null,
    hsts: hsts === false ? null : hstsValue(hsts, faults),
    frameOptions: frameOptions || null,
    referrerPolicy: referrerPolicy || null,
    permissionsPolicy: permissionsPolicy || null,
    contentSecurityPolicy: contentSecurityPolicy || null,
    crossOriginOpenerPolicy: crossOriginOpenerPolicy || null,
    crossOriginEmbedderPolicy: crossOriginEmbedderPolicy || null,
    crossOriginResourcePolicy: crossOriginResourcePolicy || null,
  }
}

function hstsValue(given: HstsOptions, faults: ConfigFault[]): string {
  const options = readOptions<HstsOptions>('securityHeaders.hsts', given, HSTS_RULES, faults)
  const { maxAge = 63_072_000, includeSubDomains = true, preload = false } = options
  const before = faults.length
  checkHsts(maxAge, includeSubDomains, preload, faults)
  if (faults.length > before) return ''
  return `max-age=${maxAge}${includeSubDomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`
}

function addRemoved(remove: readonly string[], bitOf: Map<string, number>, faults: ConfigFault[]): void {
  for (const name of remove) {
    const lower = String(name).toLowerCase()
    if (
      !isFieldName(lower) ||
      lower.length > LONGEST_NAME ||
      kindOf(lower) !== END_TO_END ||
      bitOf.get(lower)
    ) {
      faults.push({
        place: 'securityHeaders.remove',
        problem: `${show(name)} cannot be removed here`,
        fix: 'List names of end-to-end fields that this filter does not set itself, like Server.',
      })
    }
  }
  for (const name of remove) bitOf.set(String(name).toLowerCase(), REMOVED)
}
