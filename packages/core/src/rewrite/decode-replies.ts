/** Replies without their codings, for gates that look at bodies. */
import { contentChanged } from '../body/changed.ts'
import { codingsOf } from '../body/coding/codings.ts'
import { type DecodeBounds, decodeSource } from '../body/coding/decode.ts'
import { Slots } from '../body/coding/slots.ts'
import { isSource, sourceOf } from '../body/transform.ts'
import { flag, readOptions, type Table, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, ForwardHead, Reply, ReplyHead } from '../pipeline/contract.ts'
import { decodableOnly } from './accept-encoding.ts'
import { answerWeakly, busy, forbidsChange, hasWholeContent, uneditable, wantWhole } from './untouchable.ts'

/** Options of {@link decodeReplies}. */
export interface DecodeRepliesOptions {
  /**
   * No coded body may pass; default false. `Range` of requests is not heeded then, and neither is `no-transform`; a reply whose coding is
   * unknown, and a part, are answered 502.
   */
  required?: boolean
  /** Bytes that a coded body may become; default 268,435,456. */
  maxBytes?: number
  /** Bytes that may come out for each byte that went in, above 1 MiB; default 1000. */
  maxRatio?: number
  /** Replies that are decoded at the same time; more are answered 503. Default 256. */
  maxStreams?: number
}

const RULES: Table<DecodeRepliesOptions> = {
  required: flag,
  maxBytes: whole(1, Number.MAX_SAFE_INTEGER),
  maxRatio: whole(1, 1_000_000),
  maxStreams: whole(1, 65_536),
}

/**
 * Takes gzip, br, deflate and zstd (where Node has it) off replies, so that filters in front that look at bodies see plain bytes: put it
 * behind them, and `compress()` in front. The head is mended as for {@link editReplyBody}, and the same is left alone.
 * @example pipeline().use(compress()).use(waf(rules)).use(decodeReplies({ required: true })).handle(proxy(app))
 * @throws ConfigError for options that cannot work.
 */
export function decodeReplies(options: DecodeRepliesOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<DecodeRepliesOptions>('decodeReplies', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { required = false } = given
  const bounds: DecodeBounds = { maxBytes: given.maxBytes ?? 1 << 28, maxRatio: given.maxRatio ?? 1000 }
  const slots = new Slots(given.maxStreams ?? 256)

  return {
    name: 'decode-replies',
    ...(required && { onRequest: wantWhole }),
    onForward(_cx: Context, out: ForwardHead): void {
      const accepted = out.headers.joined('accept-encoding')
      const possible = decodableOnly(accepted)
      if (possible !== accepted) out.headers.set('Accept-Encoding', possible)
    },
    onReply(cx: Context, head: ReplyHead): undefined {
      // What a hook on replies is given is the reply itself.
      const reply = head as Reply
      const { headers, body } = reply
      answerWeakly(cx, reply)
      if (body !== null && 'splice' in body) return
      if (required && reply.status === 206) throw uneditable('a part of a body')
      if (!hasWholeContent(reply)) return
      if (!required && (forbidsChange(headers) || forbidsChange(cx.request.headers))) return
      const codings = codingsOf(headers)
      if (codings === null) {
        if (required) throw uneditable('a body with an unknown coding')
        return
      }
      if (codings.length === 0) return
      if (body !== null) {
        const free = slots.take()
        if (free === null) throw busy()
        reply.body = decodeSource(isSource(body) ? body : sourceOf(body), codings, bounds, free)
      }
      headers.delete('content-encoding')
      contentChanged(headers)
    },
  }
}
