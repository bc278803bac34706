/** The audit log: which exchanges are written, and how they get to the sink. */
import type { Writable } from 'node:stream'
import { secretPlaces } from '../../filter/secrets.ts'
import type { Transaction } from '../engine/transaction.ts'
import { type AuditEntry, type Disclosure, entryOf } from './entry.ts'
import type { AuditLogger, AuditOptions, AuditSink } from './options.ts'

/** Bytes that wait for a slow stream. */
const MOST_WAITING = 16 << 20

export interface AuditLog {
  /** Writes an entry for an exchange that has ended, if it is one to write. Never throws. */
  tell(tx: Transaction, status: number, headers: readonly (readonly [string, string])[]): void
}

/** Makes an audit log. */
export function auditLog({ to, redact = [], bodies = 0 }: AuditOptions): AuditLog {
  const disclosure: Disclosure = { isSecret: secretPlaces(redact), bodies }
  const write = writerFor(to)
  return {
    tell(tx, status, headers) {
      try {
        if (isWanted(tx, status)) write(entryOf(tx, status, headers, disclosure))
      } catch (cause) {
        // A log that fails must not decide about the request.
        process.emitWarning(cause instanceof Error ? cause : String(cause), 'PosternAuditWarning')
      }
    },
  }
}

/** `RelevantOnly`: a rule matched that is logged, or the status is one of those asked for. */
function isWanted({ auditEngine, matches, quietMatches, settings }: Transaction, status: number): boolean {
  if (auditEngine !== 'RelevantOnly') return auditEngine === 'On'
  return (
    quietMatches.length > 0 ||
    matches.some(({ rule }) => rule.auditLog) ||
    patternOf(settings.auditLogRelevantStatus).test(String(status))
  )
}

let pattern = /^$/

function patternOf(source: string): RegExp {
  if (pattern.source !== source) pattern = new RegExp(source)
  return pattern
}

function writerFor(to: AuditSink): (entry: AuditEntry) => void {
  if (typeof to === 'function') return to
  if (typeof (to as AuditLogger).info === 'function')
    return entry => (to as AuditLogger).info(entry, 'waf audit')
  const stream = to as Writable
  let lost = 0
  // Without a listener a full disk would end the process.
  stream.on('error', cause => process.emitWarning(cause, 'PosternAuditWarning'))
  return entry => {
    if (stream.destroyed || stream.writableLength > MOST_WAITING) {
      lost += 1
      // Told at 1, 2, 4, 8 …: a warning an entry would be a flood of its own.
      if (Number.isInteger(Math.log2(lost)))
        process.emitWarning(`${lost} entries of the audit log are lost`, 'PosternAuditWarning')
      return
    }
    stream.write(`${JSON.stringify(entry)}\n`)
  }
}
