/** Replies without their codings, for gates that look at bodies. */
import { contentChanged } from '../body/changed.ts'
import { decodeSource } from '../body/coding/decode.ts'
import { isSource, sourceOf } from '../body/transform.ts'
import { readOptions } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply, ReplyHead } from '../pipeline/contract.ts'
import { DECODING_RULES, Decoding, type DecodingOptions } from './decoding.ts'
import { answerWeakly, busy } from './untouchable.ts'

/** Options of {@link decodeReplies}. */
export type DecodeRepliesOptions = DecodingOptions

/**
 * Takes gzip, br, deflate and zstd (where Node has it) off replies, so that filters in front that look at bodies see plain bytes: put it
 * behind them, and `compress()` in front. The head is mended as for {@link editReplyBody}, and the same is left alone.
 * @example pipeline().use(compress()).use(waf(rules)).use(decodeReplies({ required: true })).handle(proxy(app))
 * @throws ConfigError for options that cannot work.
 */
export function decodeReplies(options: DecodeRepliesOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<DecodeRepliesOptions>('decodeReplies', options, DECODING_RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const decoding = new Decoding(given)

  return {
    name: 'decode-replies',
    ...decoding.hooks,
    onReply(cx: Context, head: ReplyHead): undefined {
      // What a hook on replies is given is the reply itself.
      const reply = head as Reply
      const { headers, body } = reply
      answerWeakly(cx, reply)
      if (body !== null && 'splice' in body) return
      decoding.refusePart(reply)
      const codings = decoding.codingsOf(cx, reply)
      if (codings === null || codings.length === 0) return
      if (body !== null) {
        const free = decoding.slots.take()
        if (free === null) throw busy()
        reply.body = decodeSource(isSource(body) ? body : sourceOf(body), codings, decoding.bounds, free)
      }
      headers.delete('content-encoding')
      contentChanged(headers)
    },
  }
}
