/** A stored response under the head of a newer answer without a body: a 304, or a 200 to HEAD (RFC 9111, 4.3.4, 4.3.5). */
import { HeaderList } from '@postern/core'
import { ageValue } from '../policy/age.ts'
import { type Asked, type JudgeRules, judge } from '../policy/judge.ts'
import type { NotStored } from '../policy/storable.ts'
import { updatedFields } from '../policy/update.ts'
import { type Entry, renewedEntry } from '../store/entry.ts'

/** The renewed entry, and why it may not be kept, if so. */
export interface Renewal {
  readonly entry: Entry
  readonly notStored: NotStored | null
}

/** Renews. `request` holds the fields of the request that was answered. */
export function renew(
  old: Entry,
  answer: HeaderList,
  request: HeaderList,
  asked: Asked,
  tick: number,
  rules: JudgeRules,
): Renewal {
  // A cookie for whoever asked is not for all who read what is stored.
  const without = rules.setCookie === 'store' ? [] : ['set-cookie']
  const headers = new HeaderList(updatedFields(old.raw, answer, without))
  // Without a Date of its own, the answer is as old as its receipt.
  if (!answer.has('date')) headers.set('Date', new Date(asked.responseTime).toUTCString())
  const judgement = judge(old.status, headers, { ...asked, age: ageValue(answer) }, rules)
  return {
    entry: renewedEntry(old, headers.raw, judgement, request, tick),
    notStored: judgement.notStored,
  }
}
