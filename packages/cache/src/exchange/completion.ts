/** A stored part and the rest of it (RFC 9111, 3.4). */
import { HeaderList, type Reply } from '@postern/core'
import { isStrong } from '../policy/etag.ts'
import { parseContentRange } from '../policy/range.ts'
import { updatedFields } from '../policy/update.ts'
import type { Entry } from '../store/entry.ts'

/** The whole: its head, with what still comes as its body, and the stored bytes before or behind that. */
export interface Completion {
  readonly reply: Reply
  readonly prefix: Uint8Array | null
  readonly suffix: Uint8Array | null
}

/** `null` when the answer is not the rest of the same representation. */
export function completion(stored: Entry, answer: Reply): Completion | null {
  const have = stored.part!
  const rest = parseContentRange(answer.headers.get('content-range'))
  const etag = answer.headers.get('etag')
  if (answer.status !== 206 || rest === null || rest.total !== have.total) return null
  if (!isStrong(etag) || etag !== stored.etag) return null
  const after = rest.first === have.last + 1 && rest.last === have.total - 1
  const before = rest.first === 0 && rest.last === have.first - 1
  if (!after && !before) return null
  const headers = new HeaderList(updatedFields(stored.raw, answer.headers))
  headers.delete('content-range')
  headers.set('Content-Length', String(have.total))
  return {
    reply: { status: 200, headers, body: answer.body },
    prefix: after ? stored.body!.bytes : null,
    suffix: before ? stored.body!.bytes : null,
  }
}
