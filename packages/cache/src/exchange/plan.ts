/** What the origin is asked when the store has no answer. */
import type { HeaderList } from '@postern/core'
import type { ForwardReason } from '../policy/cache-status.ts'
import { validatingFields } from '../policy/conditional.ts'
import { isStrong } from '../policy/etag.ts'
import { missingRange } from '../policy/range.ts'
import type { Question } from '../policy/request.ts'
import type { Entry } from '../store/entry.ts'

/** How a fetch asks. */
export interface FetchPlan {
  /**
   * `plain`: for the whole. `validate`: whether `entry` still holds. `complete`: for what `entry` lacks of the whole.
   * `as-asked`: what the client asked, with its own conditions and range.
   */
  readonly kind: 'plain' | 'validate' | 'complete' | 'as-asked'
  /** Stored and stale, or a part. */
  readonly entry: Entry | null
  readonly headers: HeaderList
  /** Only requests with the same can have the answer; `''` for a question that all can. */
  readonly signature: string
  /** Why the origin is asked. */
  readonly forward: ForwardReason
}

const CONDITIONAL = new Set(['if-none-match', 'if-modified-since', 'if-range', 'range'])

/** Plans a fetch. `entry` is what is stored for this request and cannot be used as it is. */
export function planFetch(
  entry: Entry | null,
  question: Question,
  request: HeaderList,
  forward: ForwardReason,
): FetchPlan {
  if (entry !== null && entry.part === null) {
    const fields = validatingFields(entry)
    if (fields.length > 0) {
      return { kind: 'validate', entry, headers: withFields(request, fields), signature: '', forward }
    }
  }
  if (entry !== null && entry.part !== null && question.range === undefined) {
    const missing = missingRange(entry.part)
    if (missing !== null) {
      const { etag } = entry
      const fields = ['Range', missing.field, ...(isStrong(etag) ? ['If-Range', etag] : [])]
      return { kind: 'complete', entry, headers: withFields(request, fields), signature: '', forward }
    }
  }
  const signature = signatureOf(question)
  return { kind: signature === '' ? 'plain' : 'as-asked', entry, headers: request, signature, forward }
}

/** The plan after an answer that was of no use: the whole, from nothing. */
export function planWhole(request: HeaderList, forward: ForwardReason): FetchPlan {
  return { kind: 'plain', entry: null, headers: withFields(request, []), signature: '', forward }
}

/** What sets the answers of two requests for the same target apart, `Vary` aside. */
export function signatureOf({ ifNoneMatch, ifModifiedSince, ifRange, range }: Question): string {
  if (ifNoneMatch === undefined && ifModifiedSince === undefined && range === undefined) return ''
  return [ifNoneMatch, ifModifiedSince, range, range === undefined ? '' : ifRange]
    .map(value => value ?? '')
    .join('\n')
}

function withFields(request: HeaderList, fields: readonly string[]): HeaderList {
  const headers = request.clone()
  headers.deleteWhere(name => CONDITIONAL.has(name.toLowerCase()))
  headers.raw.push(...fields)
  return headers
}
