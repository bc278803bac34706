/** Edits of reply bodies that read them whatever their coding. */
import { type Coding, codingsOf, LEVELS } from '../body/coding/codings.ts'
import { type DecodeBounds, decodeSource } from '../body/coding/decode.ts'
import { EncodedSource } from '../body/coding/encode.ts'
import { Slots } from '../body/coding/slots.ts'
import { guardReply } from '../body/guard.ts'
import { transformSource } from '../body/transform.ts'
import { callback, flag, needed, readOptions, type Table, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type {
  BodyReplacement,
  BodyTransform,
  Context,
  Filter,
  ForwardHead,
  ReplyHead,
  Source,
} from '../pipeline/contract.ts'
import { decodableOnly } from './accept-encoding.ts'
import { mediaTypes, TEXT_TYPES, typeTest } from './media-types.ts'
import { answerWeakly, busy, forbidsChange, hasWholeContent, uneditable, wantWhole } from './untouchable.ts'

/** Options of {@link editReplyBody}. */
export interface EditReplyBodyOptions {
  /**
   * Makes the edit of one reply, or `undefined` to leave it alone. It gets plain bytes in chunks as they come: what it looks for may
   * lie across two of them.
   */
  transform: (cx: Context, head: ReplyHead) => BodyTransform | undefined
  /** Types that are edited; default text, JSON, XML and JavaScript. */
  types?: readonly string[]
  /**
   * The edit must not be got round; default false. `Range` of requests is not heeded then, and neither is `no-transform`; a reply that
   * cannot be edited (an unknown coding, a part) is answered 502.
   */
  required?: boolean
  /** Bytes that a coded body may become; default 268,435,456. */
  maxBytes?: number
  /** Bytes that may come out for each byte that went in, above 1 MiB; default 1000. */
  maxRatio?: number
  /** Replies that are decoded at the same time; more are answered 503. Default 256. */
  maxStreams?: number
}

const RULES: Table<EditReplyBodyOptions> = {
  transform: needed(callback),
  types: mediaTypes,
  required: flag,
  maxBytes: whole(1, Number.MAX_SAFE_INTEGER),
  maxRatio: whole(1, 1_000_000),
  maxStreams: whole(1, 65_536),
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
  const { transform, types = TEXT_TYPES, required = false } = given as EditReplyBodyOptions
  const isFor = typeTest(types)
  const bounds: DecodeBounds = { maxBytes: given.maxBytes ?? 1 << 28, maxRatio: given.maxRatio ?? 1000 }
  const slots = new Slots(given.maxStreams ?? 256)

  return {
    name: 'edit-reply-body',
    ...(required && { onRequest: wantWhole }),
    onForward(cx: Context, out: ForwardHead): void {
      void cx
      const accepted = out.headers.joined('accept-encoding')
      const possible = decodableOnly(accepted)
      if (possible !== accepted) out.headers.set('Accept-Encoding', possible)
    },
    onReply(cx: Context, head: ReplyHead): undefined {
      answerWeakly(cx, head)
    },
    replyBody(cx: Context, head: ReplyHead): BodyReplacement | undefined {
      const { headers } = head
      // Nobody has asked for a part: its type may be `multipart/byteranges`, whatever is inside.
      if (required && head.status === 206) throw uneditable('a part of a body')
      if (!isFor(headers.get('content-type')) || !hasWholeContent(head)) return undefined
      if (!required && (forbidsChange(headers) || forbidsChange(cx.request.headers))) return undefined
      const codings = codingsOf(headers)
      if (codings === null) {
        if (required) throw uneditable('a body with an unknown coding')
        return undefined
      }
      const edit = transform(cx, head)
      if (edit === undefined) return undefined
      // What is sent has one coding: the outermost of those that it had.
      const coding = codings.at(-1) ?? null
      if (coding === null) headers.delete('content-encoding')
      else headers.set('Content-Encoding', coding)
      if (cx.request.method === 'HEAD') return same
      const free = coding === null ? null : slots.take()
      if (coding !== null && free === null) throw busy()
      return body => edited(body, edit, codings, coding, bounds, free)
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
