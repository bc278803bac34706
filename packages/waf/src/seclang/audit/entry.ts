/** One entry of the audit log: an exchange and the rules that matched, as ModSecurity 3 writes it in JSON. */

import { REDACTED } from '../../filter/secrets.ts'
import { offsetOf } from '../api/findings.ts'
import type { Entry } from '../engine/form.ts'
import type { RuleMatch, Transaction } from '../engine/transaction.ts'
import { idOf } from '../variables/request.ts'

/** Fields with their values; a list where a name came more than once. */
export type AuditFields = Readonly<Record<string, string | readonly string[]>>

/** A rule that matched. */
export interface AuditMessage {
  readonly message: string
  readonly details: {
    readonly ruleId: string
    readonly file: string
    readonly lineNumber: string
    readonly severity: string
    readonly tags: readonly string[]
    /** Name of the variable that matched last, its value, and where in it the match begins. */
    readonly variable: string
    readonly value: string
    readonly offset?: number
    readonly data: string
    readonly ver: string
    readonly rev: string
    readonly maturity: string
    readonly accuracy: string
  }
}

/** An entry. What came from outside stands in strings of printable ASCII; other bytes are written `\\x1b`. */
export interface AuditEntry {
  readonly transaction: {
    readonly time_stamp: string
    readonly unique_id: string
    readonly client_ip: string
    readonly is_interrupted: boolean
    readonly request: {
      readonly method: string
      readonly uri: string
      readonly http_version: string
      readonly headers?: AuditFields
      readonly body?: string
      readonly files?: readonly { readonly name: string; readonly filename: string }[]
    }
    readonly response: {
      readonly http_code: number
      readonly headers?: AuditFields
      readonly body?: string
    }
    readonly producer?: { readonly secrules_engine: string; readonly components: readonly string[] }
    readonly messages?: readonly AuditMessage[]
  }
}

/** Longest strings, in characters, and fields of a head. */
const MOST = { uri: 2048, field: 512, value: 256, text: 512 }
const MOST_FIELDS = 200
const MOST_MESSAGES = 200

/** What is secret, and how much of a body is told. */
export interface Disclosure {
  readonly isSecret: (place: string) => boolean
  readonly bodies: number
}

/** Makes the entry of a transaction that has ended. */
export function entryOf(
  tx: Transaction,
  status: number,
  headers: readonly (readonly [string, string])[],
  disclosure: Disclosure,
): AuditEntry {
  const parts = new Set(tx.settings.auditLogParts)
  const { request } = tx
  const { isSecret } = disclosure
  const requestBody = parts.has('C') || parts.has('I') ? requestBodyOf(tx, disclosure) : null
  const files = parts.has('J') ? tx.body.files : []
  return {
    transaction: {
      time_stamp: new Date().toISOString(),
      unique_id: idOf(request),
      client_ip: request.remoteAddress,
      is_interrupted: tx.interruption !== null,
      request: {
        method: shown(request.method, 32),
        uri: shown(withoutSecrets(request.uriRaw, isSecret), MOST.uri),
        http_version: shown(request.protocol.replace(/^HTTP\//, ''), 16),
        ...(parts.has('B') ? { headers: fields(request.headers, isSecret) } : {}),
        ...(requestBody === null ? {} : { body: requestBody }),
        ...(files.length === 0
          ? {}
          : {
              files: files.slice(0, MOST_FIELDS).map(({ key, value }) => ({
                name: shown(key, MOST.value),
                filename: shown(value, MOST.value),
              })),
            }),
      },
      response: {
        http_code: status,
        ...(parts.has('F') ? { headers: fields(headers.map(pairOf), isSecret) } : {}),
        ...(parts.has('E') && disclosure.bodies > 0 && tx.responseBody !== ''
          ? { body: shown(tx.responseBody, disclosure.bodies) }
          : {}),
      },
      ...(parts.has('H')
        ? {
            producer: { secrules_engine: tx.mode, components: tx.settings.componentSignatures },
            messages: messagesOf(tx, isSecret),
          }
        : {}),
    },
  }
}

function messagesOf(tx: Transaction, isSecret: Disclosure['isSecret']): AuditMessage[] {
  const matches = [...tx.matches.filter(({ rule }) => rule.auditLog), ...tx.quietMatches]
  return matches.slice(0, MOST_MESSAGES).map(match => messageOf(match, isSecret))
}

function messageOf(match: RuleMatch, isSecret: Disclosure['isSecret']): AuditMessage {
  const { rule, message, data, variable, value } = match
  const secret = isSecret(variable)
  // Texts with macros may repeat the value.
  const told = (text: string, constant: boolean): string =>
    secret && !constant ? REDACTED : shown(text, MOST.text)
  const offset = offsetOf(match)
  return {
    message: told(message, rule.message === null || rule.message.constant !== null),
    details: {
      ruleId: String(rule.id),
      file: rule.place.file,
      lineNumber: String(rule.place.line),
      severity: rule.severity === null ? '' : String(rule.severity),
      tags: rule.tags,
      variable: shown(variable, MOST.value),
      value: secret ? REDACTED : shown(value, MOST.value),
      ...(offset < 0 ? {} : { offset }),
      data: told(data, rule.logData === null || rule.logData.constant !== null),
      ver: rule.version,
      rev: rule.revision,
      maturity: rule.maturity,
      accuracy: rule.accuracy,
    },
  }
}

function requestBodyOf(tx: Transaction, { isSecret, bodies }: Disclosure): string | null {
  if (bodies === 0 || tx.rawBody === null) return null
  // Parts with files are long, and their fields stand in no text of their own.
  if (tx.processor === 'MULTIPART') return null
  const secret = tx.body.args.some(({ key }) => isSecret(`ARGS:${key}`))
  if (secret) return REDACTED
  return shown(Buffer.from(tx.rawBody.subarray(0, bodies)).toString('latin1'), bodies)
}

const pairOf = ([key, value]: readonly [string, string]): Pick<Entry, 'key' | 'value'> => ({ key, value })

/** Fields as an object: a list for a name that came more than once. */
function fields(
  entries: readonly Pick<Entry, 'key' | 'value'>[],
  isSecret: Disclosure['isSecret'],
): AuditFields {
  const found = new Map<string, string[]>()
  for (const { key, value } of entries.slice(0, MOST_FIELDS)) {
    const name = shown(key, MOST.value)
    const text = isSecret(`REQUEST_HEADERS:${key}`)
      ? REDACTED
      : shown(ADDRESSES.has(key.toLowerCase()) ? withoutSecrets(value, isSecret) : value, MOST.field)
    const known = found.get(name)
    if (known) known.push(text)
    else found.set(name, [text])
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  )
}

const ADDRESSES: ReadonlySet<string> = new Set([
  'referer',
  'origin',
  'location',
  'destination',
  'content-location',
])

/** An address with the values of secret parameters replaced. */
function withoutSecrets(uri: string, isSecret: Disclosure['isSecret']): string {
  const question = uri.indexOf('?')
  if (question === -1) return uri
  const query = uri.slice(question + 1).split('&')
  const told = query.map(part => {
    const equals = part.indexOf('=')
    if (equals === -1) return part
    return isSecret(`ARGS:${decoded(part.slice(0, equals))}`) ? `${part.slice(0, equals)}=${REDACTED}` : part
  })
  return `${uri.slice(0, question)}?${told.join('&')}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}

/** Printable ASCII, bounded. */
function shown(text: string, most: number): string {
  const cut = text.length > most ? text.slice(0, most) : text
  return cut.replace(/[^\x20-\x7e]/g, byte => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
