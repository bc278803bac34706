/** What a condition does at once when a value matches: set variables, turn switches, open records. */
import { integerOf } from '../operators/numbers.ts'
import { changedParts } from '../rules/audit-parts.ts'
import type { Assignment, Condition, Control } from '../rules/model.ts'
import type { Transaction } from './transaction.ts'

export function applyEffects(condition: Condition, tx: Transaction): void {
  for (const { collection, key } of condition.initialisations) tx.openRecord(collection, tx.expand(key))
  for (const assignment of condition.assignments) assign(assignment, tx)
  for (const { collection, key, seconds } of condition.expiries) {
    tx.expireVariable(collection, tx.expand(key).toLowerCase(), Number(integerOf(tx.expand(seconds))))
  }
  for (const control of condition.controls) applyControl(control, tx)
}

function assign({ collection, key, value, sign }: Assignment, tx: Transaction): void {
  const name = tx.expand(key).toLowerCase()
  if (value === null) return tx.removeVariable(collection, name)
  const text = tx.expand(value)
  if (sign === 0) return tx.setVariable(collection, name, text)
  const current = integerOf(tx.variable(collection, name)?.value ?? '')
  const change = integerOf(text)
  const exact = typeof current === 'number' && typeof change === 'number'
  const sum = exact ? current + sign * change : BigInt(current) + BigInt(sign) * BigInt(change)
  tx.setVariable(collection, name, String(sum))
}

function applyControl(control: Control, tx: Transaction): void {
  switch (control.kind) {
    case 'engine':
      tx.mode = control.mode
      return
    case 'auditEngine':
      tx.auditEngine = control.mode
      return
    case 'auditLogParts':
      tx.settings.auditLogParts = changedParts(tx.settings.auditLogParts, control.parts)
      return
    case 'processor':
      tx.processor = control.name
      tx.refresh()
      return
    case 'forceRequestBody':
      tx.forceRequestBody = control.on
      return
    case 'requestBodyAccess':
      tx.settings.requestBodyAccess = control.on
      return
    case 'responseBodyAccess':
      tx.settings.responseBodyAccess = control.on
      return
    case 'requestBodyLimit':
      tx.settings.requestBodyLimit = control.bytes
      return
    case 'responseBodyLimit':
      tx.settings.responseBodyLimit = control.bytes
      return
    case 'forceResponseBody':
      tx.forceResponseBody = control.on
      return
    case 'none':
      return
    default:
      tx.removed.add(control)
  }
}
