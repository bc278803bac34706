/** Why an answer is not stored, beyond what its head says. */
import type { Reply } from '@postern/core'
import type { Judgement } from '../policy/judge.ts'
import type { Part } from '../policy/range.ts'

/** Reasons that say nothing of the response itself. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['request-no-store', 'authorization', 'purged'])

/** True for a reason that lies in this one request or moment: the next answer may well be stored. */
export function isPassing(reason: string | null): boolean {
  return reason !== null && OF_THE_REQUEST.has(reason)
}

/** The first reason, or `null`. `length`: bytes of the body, if they are known. */
export function refusalOf(
  { status, body }: Reply,
  judgement: Judgement,
  part: Part | null,
  length: number | null,
  maxBytes: number,
  doomed: boolean,
): string | null {
  if (judgement.notStored !== null) return judgement.notStored
  if (status === 304) return 'not-modified'
  if (status === 206 && part === null) return 'partial'
  if (body !== null && 'splice' in body) return 'tunnel'
  if (length !== null && length > maxBytes) return 'too-large'
  return doomed ? 'purged' : null
}
