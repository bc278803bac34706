/** What filters that undo codings of replies have in common. */
import { type Coding, codingsOf } from '../body/coding/codings.ts'
import type { DecodeBounds } from '../body/coding/decode.ts'
import { Slots } from '../body/coding/slots.ts'
import { flag, type Table, whole } from '../config/check.ts'
import type { Context, Filter, ForwardHead, ReplyHead } from '../pipeline/contract.ts'
import { decodableOnly } from './accept-encoding.ts'
import { forbidsChange, hasWholeContent, uneditable, wantWhole } from './untouchable.ts'

/** Options of filters that undo codings. */
export interface DecodingOptions {
  /**
   * Nothing may get round the filter; default false. `Range` of requests is not heeded then, and neither is `no-transform`; a reply that
   * cannot be read (an unknown coding, a part) is answered 502.
   */
  required?: boolean
  /** Bytes that a coded body may become; default 268,435,456. */
  maxBytes?: number
  /** Bytes that may come out for each byte that went in, above 1 MiB; default 1000. */
  maxRatio?: number
  /** Replies that are decoded at the same time; more are answered 503. Default 256. */
  maxStreams?: number
}

/** Rules of the options. */
export const DECODING_RULES: Table<DecodingOptions> = {
  required: flag,
  maxBytes: whole(1, Number.MAX_SAFE_INTEGER),
  maxRatio: whole(1, 1_000_000),
  maxStreams: whole(1, 65_536),
}

/** One filter's decoding. */
export class Decoding {
  readonly bounds: DecodeBounds
  readonly slots: Slots
  /** For the filter: upstreams are asked only for what can be undone. */
  readonly hooks: Pick<Filter, 'onRequest' | 'onForward'>
  readonly #required: boolean

  constructor({ required = false, maxBytes = 1 << 28, maxRatio = 1000, maxStreams = 256 }: DecodingOptions) {
    this.bounds = { maxBytes, maxRatio }
    this.slots = new Slots(maxStreams)
    this.hooks = { ...(required && { onRequest: wantWhole }), onForward: askForDecodable }
    this.#required = required
  }

  /** @throws ProxyError for a part, where nothing may get round. Its type may be `multipart/byteranges`, whatever is inside. */
  refusePart({ status }: ReplyHead): void {
    if (this.#required && status === 206) throw uneditable('a part of a body')
  }

  /**
   * The codings of a reply that may be changed; `null`: it is left alone.
   * @throws ProxyError for an unknown one, where nothing may get round.
   */
  codingsOf(cx: Context, head: ReplyHead): readonly Coding[] | null {
    const { headers } = head
    if (!hasWholeContent(head)) return null
    if (!this.#required && (forbidsChange(headers) || forbidsChange(cx.request.headers))) return null
    const codings = codingsOf(headers)
    if (codings === null && this.#required) throw uneditable('a body with an unknown coding')
    return codings
  }
}

function askForDecodable(_cx: Context, { headers }: ForwardHead): void {
  const accepted = headers.joined('accept-encoding')
  const possible = decodableOnly(accepted)
  if (possible !== accepted) headers.set('Accept-Encoding', possible)
}
