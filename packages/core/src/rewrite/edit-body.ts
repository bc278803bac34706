/** Edits of reply bodies that read them whatever their coding. */
import { type Coding, LEVELS } from '../body/coding/codings.ts'
import { type DecodeBounds, decodeSource } from '../body/coding/decode.ts'
import { EncodedSource } from '../body/coding/encode.ts'
import { guardReply } from '../body/guard.ts'
import { transformSource } from '../body/transform.ts'
import { callback, needed, readOptions, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type {
  BodyReplacement,
  BodyTransform,
  Context,
  Filter,
  ReplyHead,
  Source,
} from '../pipeline/contract.ts'
import { DECODING_RULES, Decoding, type DecodingOptions } from './decoding.ts'
import { mediaTypes, TEXT_TYPES, typeTest } from './media-types.ts'
import { answerWeakly, busy } from './untouchable.ts'

/** Options of {@link editReplyBody}. */
export interface EditReplyBodyOptions extends DecodingOptions {
  /**
   * Makes the edit of one reply, or `undefined` to leave it alone. It gets plain bytes in chunks as they come: what it looks for may
   * lie across two of them.
   */
  transform: (cx: Context, head: ReplyHead) => BodyTransform | undefined
  /** Types that are edited; default text, JSON, XML and JavaScript. */
  types?: readonly string[]
}

const RULES: Table<EditReplyBodyOptions> = {
  transform: needed(callback),
  types: mediaTypes,
  ...DECODING_RULES,
}

/**
 * Edits bodies of replies: gzip, br, deflate and zstd (where Node has it) are undone for the edit and put on again (B047). What
 * described the bytes is mended: no `Content-Length` and digests, a weak `ETag`, no offer of ranges. Upstreams are asked only for
 * codings that can be undone. Parts (206), replies without content and what says `no-transform` are left alone, and so is what has
 * another coding, unless `required`. A body that is cut, broken or blown up breaks for the client, too.
 * @example
 * editReplyBody({ types: ['text/html'], transform: () => banner() })
 * @throws ConfigError for options that cannot work.
 */
export function editReplyBody(options: EditReplyBodyOptions): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<EditReplyBodyOptions>('editReplyBody', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { transform, types = TEXT_TYPES } = given as EditReplyBodyOptions
  const isFor = typeTest(types)
  const decoding = new Decoding(given)

  return {
    name: 'edit-reply-body',
    ...decoding.hooks,
    onReply(cx: Context, head: ReplyHead): undefined {
      answerWeakly(cx, head)
    },
    replyBody(cx: Context, head: ReplyHead): BodyReplacement | undefined {
      const { headers } = head
      decoding.refusePart(head)
      if (!isFor(headers.get('content-type'))) return undefined
      const codings = decoding.codingsOf(cx, head)
      if (codings === null) return undefined
      const edit = transform(cx, head)
      if (edit === undefined) return undefined
      // What is sent has one coding: the outermost of those that it had.
      const coding = codings.at(-1) ?? null
      if (coding === null) headers.delete('content-encoding')
      else headers.set('Content-Encoding', coding)
      if (cx.request.method === 'HEAD') return same
      const free = coding === null ? null : decoding.slots.take()
      if (coding !== null && free === null) throw busy()
      return body => edited(body, edit, codings, coding, decoding.bounds, free)
    },
  }
}

function edited(
  body: Source,
  edit: BodyTransform,
  codings: readonly Coding[],
  coding: Coding | null,
  bounds: DecodeBounds,
  free: (() => void) | null,
): Source {
  // What another edit has just put a coding on is not undone, but taken as it was before.
  const plain = body instanceof EncodedSource ? body.peel() : decodeSource(body, codings, bounds)
  const changed = guardReply(transformSource(plain, edit))
  return coding === null ? changed : new EncodedSource(changed, coding, LEVELS[coding], free)
}

const same: BodyReplacement = body => body
