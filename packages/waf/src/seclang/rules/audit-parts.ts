import { Mistake } from '../parse/fault.ts'

/** Reads parts of the audit log: letters from A to K, Z at the end, or with `+` or `-` in front what changes. */
export function auditParts(text: string): string {
  if (!/^(?:[+-][B-K]{1,20}|A?[B-K]{0,20}Z?)$/.test(text) || text === '') {
    throw new Mistake(
      `'${text.slice(0, 40)}' are no parts of the audit log`,
      'Write for example ABHZ, or +E.',
    )
  }
  return text
}

/** The parts after a change. */
export function changedParts(parts: string, change: string): string {
  if (change.startsWith('+')) return parts + change.slice(1)
  if (!change.startsWith('-')) return change
  return [...parts].filter(part => !change.includes(part)).join('')
}
