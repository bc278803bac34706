/** Options of the audit log. */
import type { Writable } from 'node:stream'
import type { AuditEntry } from './entry.ts'

export type { AuditEntry } from './entry.ts'

/** A logger like pino. */
export interface AuditLogger {
  info(entry: object, message: string): void
}

/** Where entries go: a function, a logger like pino, or a stream that gets a line of JSON for each. */
export type AuditSink = ((entry: AuditEntry) => void) | AuditLogger | Writable

/** Options of the audit log. */
export interface AuditOptions {
  /** Where entries go. A stream that does not keep up with 16 MiB waiting loses entries, with a warning. */
  readonly to: AuditSink
  /** Names of headers, cookies and arguments whose values are replaced, besides the usual ones; default none. */
  readonly redact?: readonly string[]
  /**
   * Bytes of request and reply bodies in an entry, where the parts C, E or I ask for them; default 0: none, for nobody knows
   * what secrets are in there. At most 1 MiB. A body with an argument of a secret name is left out all the same.
   */
  readonly bodies?: number
}

const NAMES = ['to', 'redact', 'bodies']
const MOST_BODY = 1 << 20

/** Checks options. */
export function checkAudit(
  audit: AuditOptions,
  add: (place: string, problem: string, fix: string) => void,
): void {
  if (typeof audit !== 'object' || audit === null) {
    add('audit', 'it is no object', 'Write { to: entry => … }.')
    return
  }
  for (const name of Object.keys(audit)) {
    if (!NAMES.includes(name))
      add(`audit.${name.slice(0, 40)}`, 'there is no such option', `Known are ${NAMES.join(', ')}.`)
  }
  const { to, redact = [], bodies = 0 } = audit
  if (!isFunction(to) && !isFunction((to as AuditLogger)?.info) && !isFunction((to as Writable)?.write))
    add('audit.to', 'it is no function, logger or stream', 'Write for example entry => log.info(entry).')
  if (!Array.isArray(redact) || redact.some(name => typeof name !== 'string' || name === ''))
    add('audit.redact', 'it is no list of names', 'Write an array of strings.')
  if (!Number.isSafeInteger(bodies) || bodies < 0 || bodies > MOST_BODY)
    add('audit.bodies', `it is no whole number from 0 to ${MOST_BODY}`, 'Write bytes.')
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
