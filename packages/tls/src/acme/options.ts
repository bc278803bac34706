/** Options of `acme()`, checked. */
import { type Awaitable, ConfigError, type ConfigFault } from '@postern/core'
import { assertFunction, assertKnown, assertMilliseconds, assertWhole, shown } from '../config.ts'
import { type TlsLog, warnings } from '../events.ts'
import { readNames } from '../x509/names.ts'
import type { ChallengeType, DnsProvider } from './challenges.ts'
import type { ExternalAccount } from './jws.ts'
import { type AcmeStorage, fileStorage } from './storage.ts'

/** Directory of Let's Encrypt. */
export const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'

/** A certificate authority. */
export interface AcmeAuthority {
  /** Address of its directory, `https:`. */
  directory: string
  /** Binds the account to one that the CA knows (RFC 8555, 7.3.4). */
  externalAccount?: ExternalAccount
  /** Profile of certificates (draft-ietf-acme-profiles), for example `shortlived`; default the CA's. */
  profile?: string
  /** Roots to trust for its own HTTPS, PEM; default the system's. */
  ca?: string
}

/** Certificates for names that nobody has configured, at their first handshake. */
export interface OnDemandOptions {
  /** Whether a name may have a certificate. Without a narrow answer here, anybody who points a name at you uses up your limits. */
  allow: (name: string) => Awaitable<boolean>
  /** Orders an hour, at most; default 20. */
  perHour?: number
  /** Certificates of this kind, at most; default 1000. */
  most?: number
}

/** Options of {@link acme}. */
export interface AcmeOptions {
  /** One certificate an entry; an entry that is a list is one certificate for all its names. May be empty with `onDemand`. */
  names: readonly (string | readonly string[])[]
  /** True: you accept the terms of the authorities. There is no default. */
  acceptTerms: true
  /** Where the CA writes to; default nowhere. */
  email?: string
  /** In order of preference: when one fails, the next is asked. Default Let's Encrypt. */
  authorities?: readonly AcmeAuthority[]
  /**
   * How control is shown, in order of preference; default `['tls-alpn-01']`, which needs port 443 and nothing else.
   * `http-01` needs the gate `http01()` on port 80; `dns-01` needs `dns`, and is the only one for wildcards.
   */
  challenges?: readonly ChallengeType[]
  /** Sets TXT records for `dns-01`. */
  dns?: DnsProvider
  /** A folder, or a store that machines share. */
  storage: string | AcmeStorage
  /** Issues for names that are asked for in handshakes and not in `names`; default: none are. */
  onDemand?: OnDemandOptions
  /** Time for one order, in ms; default 180 000. */
  orderTimeout?: number
  /** Takes events; default: warnings of the process. */
  log?: TlsLog
  /** Milliseconds since 1970; default `Date.now`. */
  clock?: () => number
  /** 0 to 1; default `Math.random`. Spreads attempts in time, nothing secret. */
  random?: () => number
}

/** Options with their defaults. */
export interface AcmeSettings {
  readonly sets: readonly (readonly string[])[]
  readonly email: string | null
  readonly authorities: readonly AcmeAuthority[]
  readonly challenges: readonly ChallengeType[]
  readonly dns: DnsProvider | null
  readonly storage: AcmeStorage
  readonly onDemand: Required<OnDemandOptions> | null
  readonly orderTimeout: number
  readonly log: TlsLog
  readonly clock: () => number
  readonly random: () => number
}

const NAMES = [
  ...['names', 'acceptTerms', 'email', 'authorities', 'challenges', 'dns', 'storage', 'onDemand'],
  ...['orderTimeout', 'log', 'clock', 'random'],
]
const TYPES: readonly string[] = ['http-01', 'tls-alpn-01', 'dns-01']
const MOST_SETS = 1000

/** Reads options. @throws ConfigError with every fault. */
export function readAcmeOptions(options: AcmeOptions): AcmeSettings {
  const faults: ConfigFault[] = []
  const add = (place: string, problem: string, fix: string): void =>
    void faults.push({ place: `acme.${place}`, problem, fix })
  assertKnown('acme', options, NAMES, faults)
  const challenges = options.challenges ?? ['tls-alpn-01']
  if (options.acceptTerms !== true)
    add('acceptTerms', 'it is not true', "Read the CA's terms; then write acceptTerms: true.")
  if (
    !Array.isArray(challenges) ||
    challenges.length === 0 ||
    challenges.some(type => !TYPES.includes(type))
  ) {
    add('challenges', `${shown(challenges)} is no list of challenges`, `Choose of ${TYPES.join(', ')}.`)
  }
  if (challenges.includes('dns-01') && typeof options.dns?.set !== 'function') {
    add('dns', 'dns-01 needs it', 'Pass { set(name, value), remove(name, value) }.')
  }
  if (options.email !== undefined && !/^[\x21-\x7e]{1,100}@[A-Za-z0-9.-]{1,200}$/.test(options.email)) {
    add('email', `${shown(options.email)} is no address`, 'Write you@example.com, or leave it out.')
  }
  const { storage } = options
  if (
    !(typeof storage === 'string' && storage !== '') &&
    typeof (storage as AcmeStorage)?.lock !== 'function'
  ) {
    add('storage', 'it is no folder and no store', "Write storage: './acme', or pass fileStorage(dir).")
  }
  for (const name of ['log', 'clock', 'random'] as const)
    assertFunction(`acme.${name}`, options[name], faults)
  const settings: AcmeSettings = {
    sets: readSets(options, challenges, faults),
    email: options.email ?? null,
    authorities: readAuthorities(options.authorities, faults),
    challenges,
    dns: options.dns ?? null,
    storage: typeof storage === 'string' ? fileStorage(storage) : storage,
    onDemand: readOnDemand(options.onDemand, faults),
    orderTimeout: assertMilliseconds('acme.orderTimeout', options.orderTimeout ?? 180_000, 1000, faults),
    log: options.log ?? warnings,
    clock: options.clock ?? Date.now,
    random: options.random ?? Math.random,
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return settings
}

function readSets(options: AcmeOptions, challenges: readonly string[], faults: ConfigFault[]): string[][] {
  const given = Array.isArray(options.names) ? options.names : []
  if ((given.length === 0 && !options.onDemand) || given.length > MOST_SETS) {
    const fix = `Give 1 to ${MOST_SETS} names, such as ['example.com', 'www.example.com'].`
    faults.push({ place: 'acme.names', problem: `${given.length} certificates are named`, fix })
  }
  return given.map((entry: string | readonly string[], index) => {
    const place = `acme.names[${index}]`
    const names = readNames(typeof entry === 'string' ? [entry] : entry, place, faults)
    for (const { kind, name } of names) {
      if (kind === 'ip' || !name.includes('.')) {
        faults.push({
          place,
          problem: `${shown(name)} is no public DNS name`,
          fix: 'Write names like www.example.com.',
        })
      } else if (name.startsWith('*.') && !challenges.includes('dns-01')) {
        faults.push({
          place,
          problem: `the wildcard ${shown(name)} needs dns-01`,
          fix: "Write challenges: ['dns-01'] and dns.",
        })
      }
    }
    return names.map(({ name }) => name)
  })
}

function readAuthorities(given: AcmeOptions['authorities'], faults: ConfigFault[]): readonly AcmeAuthority[] {
  const list = given ?? [{ directory: LETS_ENCRYPT }]
  if (!Array.isArray(list) || list.length === 0 || list.length > 10) {
    faults.push({
      place: 'acme.authorities',
      problem: 'it is no list of 1 to 10',
      fix: "Leave it out for Let's Encrypt.",
    })
    return []
  }
  for (const [index, authority] of list.entries()) {
    const place = `acme.authorities[${index}]`
    assertKnown(place, authority, ['directory', 'externalAccount', 'profile', 'ca'], faults)
    if (!/^https:\/\/[\x21-\x7e]+$/.test(String(authority?.directory))) {
      const fix = `Write for example '${LETS_ENCRYPT}'.`
      faults.push({
        place: `${place}.directory`,
        problem: `${shown(authority?.directory)} is not https:`,
        fix,
      })
    }
    const external = authority?.externalAccount
    if (
      external !== undefined &&
      !(typeof external?.keyId === 'string' && /^[\w-]{22,}={0,2}$/.test(String(external.key)))
    ) {
      // The key is a secret: it is not shown.
      const fix = 'Write { keyId, key } as the CA gave them, the key in base64url.'
      faults.push({ place: `${place}.externalAccount`, problem: 'it lacks an identifier or a key', fix })
    }
    if (authority?.profile !== undefined && !/^[\w.-]{1,64}$/.test(String(authority.profile))) {
      faults.push({
        place: `${place}.profile`,
        problem: `${shown(authority.profile)} is no name`,
        fix: "See the CA's list.",
      })
    }
  }
  return list
}

function readOnDemand(
  given: OnDemandOptions | undefined,
  faults: ConfigFault[],
): Required<OnDemandOptions> | null {
  if (given === undefined) return null
  assertKnown('acme.onDemand', given, ['allow', 'perHour', 'most'], faults)
  if (typeof given?.allow !== 'function') {
    const fix = 'Write for example allow: name => customers.has(name).'
    faults.push({ place: 'acme.onDemand.allow', problem: 'it is not a function', fix })
  }
  return {
    allow: given?.allow,
    perHour: assertWhole('acme.onDemand.perHour', given?.perHour ?? 20, 1, 10_000, faults),
    most: assertWhole('acme.onDemand.most', given?.most ?? 1000, 1, 100_000, faults),
  }
}
