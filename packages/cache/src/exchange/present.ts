/** The head that a waiter sees of a response that is still on its way. */
import { HeaderList, type Reply } from '@postern/core'
import { isNotModified, notModifiedFields } from '../policy/conditional.ts'
import type { Judgement } from '../policy/judge.ts'
import type { Question } from '../policy/request.ts'
import { storedFields } from '../policy/update.ts'

/** Whoever asked gets the head as it came; others get what is stored of it. A condition that holds makes it a 304. */
export function present(
  status: number,
  received: HeaderList,
  judgement: Judgement,
  question: Question,
  isAsker: boolean,
  conditional: boolean,
): Reply {
  let headers = received.clone()
  if (!isAsker) {
    headers = new HeaderList(storedFields(headers, judgement.said.withheld))
    if (judgement.initialAge > 0) headers.raw.push('Age', String(Math.floor(judgement.initialAge / 1000)))
  }
  const { ifNoneMatch, ifModifiedSince } = question
  if (conditional && status === 200 && isNotModified(ifNoneMatch, ifModifiedSince, judgement.validators))
    return { status: 304, headers: new HeaderList(notModifiedFields(headers.raw)), body: null }
  return { status, headers, body: null }
}
