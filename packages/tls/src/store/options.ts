/** Options of the certificate store, checked. */

import type { Awaitable } from '@postern/core'
import { ConfigError, type ConfigFault } from '@postern/core'
import {
  assertChoice,
  assertFunction,
  assertKnown,
  assertMilliseconds,
  assertWhole,
  shown,
} from '../config.ts'
import { type TlsLog, warnings } from '../events.ts'
import { ClientPolicies, type ClientPolicyTable } from '../identity/policy.ts'
import type { OldestVersion } from '../policy/protocol.ts'
import { type TicketKeyProvider, ticketKeys } from '../tickets/keys.ts'
import type { CertificateIssuer } from './issuer.ts'
import type { Certificate, CertificateInput } from './material.ts'

/** A pair of files. */
export interface CertificateFiles {
  /** Path of a PEM file: the certificate, then its intermediates. */
  cert: string
  /** Path of the PEM file of its key. */
  key: string
  passphrase?: string
  /** Path of a DER OCSP response to staple. */
  ocsp?: string
}

/** Options of {@link certificates}. Any mix of the four sources; at least one. */
export interface CertificatesOptions {
  /** Folders of PEM files, three levels deep. Keys find their certificates by their public halves; names do not matter. */
  dir?: string | readonly string[]
  /** Pairs of files. */
  files?: CertificateFiles | readonly CertificateFiles[]
  /** Keys and certificates as text or bytes. */
  pem?: CertificateInput | readonly CertificateInput[]
  /** Called at the start and at each reload; whatever it gives joins the others. */
  load?: () => Awaitable<readonly CertificateInput[]>
  /** Gets certificates by itself: what `acme()` returns. */
  acme?: CertificateIssuer
  /** Certificate for clients without a server name and for names that nobody has; default the first. */
  default?: string
  /** Names that nobody has: `'default'` serves the default certificate (default), `'refuse'` ends the handshake. */
  unknownNames?: 'default' | 'refuse'
  /** Start although no certificate is there yet, or none can be read; default only with `acme`. */
  allowEmpty?: boolean
  /** Milliseconds between two looks at the files, 0 for none; default 30 000. Folders are watched by the system too. */
  watch?: number
  /** Oldest version; default `TLSv1.3`. 1.2 comes with ECDHE and AEAD suites only. */
  minVersion?: OldestVersion
  /** A handshake that takes longer is closed, in ms; default 10 000. */
  handshakeTimeout?: number
  /**
   * Client certificates by server name: exact, `*.example.com`, or `*` for all others. A function is asked at the start and
   * at each reload, so that authorities and allow-lists change without a restart; connections that are open stay.
   */
  clients?: ClientPolicyTable | (() => Awaitable<ClientPolicyTable>)
  /** Keys of session tickets; default {@link ticketKeys} with a secret of this process. `false`: keys of Node, never changed. */
  tickets?: TicketKeyProvider | false
  /** Keep taking tickets of the previous key after a change, by an undocumented hook of node:tls where it is there; default false. */
  overlap?: boolean
  /** Life of a session, in seconds; default 7200. */
  sessionTimeout?: number
  /** Gets OCSP responses, asked again at half their life; `null` for none. Each is checked before it is stapled. */
  ocsp?: (certificate: Certificate) => Awaitable<Uint8Array | null>
  /** Days before its end from which on a certificate is reported; default 10. */
  warnDays?: number
  /** Contexts that are kept; default 500, about 30 KB each. */
  maxContexts?: number
  /** Takes events; default: warnings of the process. */
  log?: TlsLog
  /** Milliseconds since 1970; default `Date.now`. */
  clock?: () => number
}

const NAMES = [
  ...['dir', 'files', 'pem', 'load', 'acme', 'default', 'unknownNames', 'allowEmpty', 'watch', 'minVersion'],
  ...[
    'handshakeTimeout',
    'clients',
    'tickets',
    'overlap',
    'sessionTimeout',
    'ocsp',
    'warnDays',
    'maxContexts',
  ],
  ...['log', 'clock'],
]

/** Options with their defaults. */
export interface StoreSettings {
  readonly dirs: readonly string[]
  readonly files: readonly CertificateFiles[]
  readonly pem: readonly CertificateInput[]
  readonly load: (() => Awaitable<readonly CertificateInput[]>) | null
  readonly issuer: CertificateIssuer | null
  readonly fallback: string | null
  readonly refuseUnknown: boolean
  readonly allowEmpty: boolean
  readonly watch: number
  readonly minVersion: OldestVersion
  readonly handshakeTimeout: number
  /** What is asked for policies; `null` when there are none. */
  readonly clients: (() => Awaitable<ClientPolicyTable>) | null
  /** Policies that never change; `null` when a function gives them. */
  readonly policies: ClientPolicies | null
  readonly tickets: TicketKeyProvider | null
  readonly overlap: boolean
  readonly sessionTimeout: number
  readonly ocsp: ((certificate: Certificate) => Awaitable<Uint8Array | null>) | null
  readonly warnMs: number
  readonly maxContexts: number
  readonly log: TlsLog
  readonly clock: () => number
}

/** Reads options. @throws ConfigError with every fault. */
export function readOptions(options: CertificatesOptions): StoreSettings {
  const faults: ConfigFault[] = []
  const place = 'certificates'
  assertKnown(place, options, NAMES, faults)
  if (faults.length > 0 && (typeof options !== 'object' || options === null)) throw new ConfigError(faults)
  const settings: StoreSettings = {
    dirs: listOf(options.dir),
    files: listOf(options.files),
    pem: listOf(options.pem),
    load: options.load ?? null,
    issuer: options.acme ?? null,
    fallback: options.default?.toLowerCase() ?? null,
    refuseUnknown:
      assertChoice(
        `${place}.unknownNames`,
        options.unknownNames ?? 'default',
        ['default', 'refuse'],
        faults,
      ) === 'refuse',
    // The first certificate may be on its way.
    allowEmpty: options.allowEmpty ?? options.acme !== undefined,
    watch: assertMilliseconds(`${place}.watch`, options.watch ?? 30_000, 0, faults),
    minVersion: assertChoice(
      `${place}.minVersion`,
      options.minVersion ?? 'TLSv1.3',
      ['TLSv1.2', 'TLSv1.3'],
      faults,
    ),
    handshakeTimeout: assertMilliseconds(
      `${place}.handshakeTimeout`,
      options.handshakeTimeout ?? 10_000,
      1,
      faults,
    ),
    clients: typeof options.clients === 'function' ? options.clients : null,
    policies:
      typeof options.clients === 'function'
        ? null
        : new ClientPolicies(options.clients ?? {}, `${place}.clients`, faults),
    tickets: options.tickets === false ? null : (options.tickets ?? ticketKeys()),
    overlap: options.overlap === true,
    sessionTimeout: assertWhole(
      `${place}.sessionTimeout`,
      options.sessionTimeout ?? 7200,
      1,
      604_800,
      faults,
    ),
    ocsp: options.ocsp ?? null,
    warnMs: 86_400_000 * assertWhole(`${place}.warnDays`, options.warnDays ?? 10, 0, 3650, faults),
    maxContexts: assertWhole(`${place}.maxContexts`, options.maxContexts ?? 500, 1, 100_000, faults),
    log: options.log ?? warnings,
    clock: options.clock ?? Date.now,
  }
  for (const name of ['load', 'ocsp', 'log', 'clock'] as const)
    assertFunction(`${place}.${name}`, options[name], faults)
  for (const [index, dir] of settings.dirs.entries()) {
    if (typeof dir !== 'string' || dir === '') {
      faults.push({
        place: `${place}.dir`,
        problem: `entry ${index} is no path`,
        fix: "Write for example './certs'.",
      })
    }
  }
  for (const [index, pair] of settings.files.entries()) {
    assertKnown(`${place}.files[${index}]`, pair, ['cert', 'key', 'passphrase', 'ocsp'], faults)
    if (typeof pair?.cert !== 'string' || typeof pair?.key !== 'string') {
      const fix = "Write { cert: './cert.pem', key: './key.pem' }."
      faults.push({ place: `${place}.files[${index}]`, problem: 'cert and key are no paths', fix })
    }
  }
  for (const [index, input] of settings.pem.entries()) {
    // What makes certificates may tell more of them, so other fields are no fault here.
    if (isText(input?.cert) && isText(input?.key)) continue
    const fix = 'Write { cert, key } in PEM, for example of developmentCertificate().'
    faults.push({ place: `${place}.pem[${index}]`, problem: 'cert and key are no text or bytes', fix })
  }
  if (typeof settings.tickets?.keysAt !== 'function' && settings.tickets !== null) {
    const fix = 'Pass what ticketKeys() returns.'
    faults.push({ place: `${place}.tickets`, problem: `${shown(options.tickets)} gives no keys`, fix })
  }
  if (
    settings.dirs.length + settings.files.length + settings.pem.length === 0 &&
    !settings.load &&
    !settings.issuer
  ) {
    faults.push({ place, problem: 'it names no certificate', fix: "Write for example { dir: './certs' }." })
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return settings
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}
