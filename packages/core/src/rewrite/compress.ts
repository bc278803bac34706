/** Compression of replies: as a filter on what is sent, or as a wrapper on what a cache stores. */

import { contentChanged } from '../body/changed.ts'
import { CODINGS, type Coding, HIGHEST, hasZstd, LEVELS, type Levels } from '../body/coding/codings.ts'
import { EncodedSource } from '../body/coding/encode.ts'
import { Slots } from '../body/coding/slots.ts'
import { isSource, sourceOf } from '../body/transform.ts'
import { callback, kindOf, type Rule, readOptions, show, type Table, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { editable } from '../pipeline/answer.ts'
import type {
  BodyReplacement,
  Context,
  Filter,
  Handler,
  Reply,
  ReplyHead,
  Wrapper,
} from '../pipeline/contract.ts'
import { chooser } from './accept-encoding.ts'
import { mediaTypes, TEXT_TYPES, typeTest } from './media-types.ts'
import { answerWeakly, forbidsChange, hasWholeContent, varyOn } from './untouchable.ts'

/** Options of {@link compress} and {@link storeCompressed}. */
export interface CompressOptions {
  /**
   * Codings that are offered, the preferred one first; a client's weights count more. Default `['br', 'zstd', 'gzip', 'deflate']`,
   * without `zstd` on a Node that does not have it (before 22.15).
   */
  encodings?: readonly ('br' | 'zstd' | 'gzip' | 'deflate')[]
  /** Types that are compressed; default text, JSON, XML, JavaScript, SVG, WebAssembly and some fonts. */
  types?: readonly string[]
  /** Bodies that are known to be shorter than this many bytes are left alone; default 1024. */
  minLength?: number
  /** Levels: `br` 0 to 11 (default 4), `zstd` 1 to 22 (3), `gzip` and `deflate` 1 to 9 (5). */
  levels?: { readonly br?: number; readonly zstd?: number; readonly gzip?: number; readonly deflate?: number }
  /** Replies that are compressed at the same time; more are sent as they are. Default 256. */
  maxStreams?: number
  /** Replies that are left alone: those that hold a secret beside what a client sent, for example (BREACH). Default none. */
  skip?: (cx: Context, head: ReplyHead) => boolean
}

const TYPES = [
  ...TEXT_TYPES,
  ...[
    'application/wasm',
    'application/manifest+json',
    'application/vnd.ms-fontobject',
    'font/otf',
    'font/ttf',
  ],
  ...['image/bmp', 'image/x-icon', 'image/vnd.microsoft.icon', 'application/rtf', 'application/x-sh'],
]

/**
 * Compresses replies for clients that take it (RFC 9110, 8.4 and 12.5.3). Left alone: what is coded already, parts (206), replies
 * without content, what says `no-transform` on either side, types that are not named, short bodies. Streams are flushed as they
 * come. A compressed reply has a weak `ETag`, no `Content-Length`, and `Vary: Accept-Encoding`; HEAD is answered with the same head.
 * Put it in front of filters that edit bodies. It stands outside of every `cache()`: see {@link storeCompressed} for the inside.
 * @example pipeline().use(compress()).handle(proxy(app))
 * @throws ConfigError for options that cannot work, and for `zstd` by name on a Node without it.
 */
export function compress(options: CompressOptions = {}): Filter {
  const compressor = new Compressor('compress', options)
  return {
    name: 'compress',
    onReply(cx: Context, head: ReplyHead): undefined {
      if (answerWeakly(cx, head)) varyOn(head.headers, 'Accept-Encoding')
    },
    replyBody: (cx: Context, head: ReplyHead) => compressor.judge(cx, head),
  }
}

/**
 * Compresses what a handler answers, for a cache in front of it: `pipeline().wrap(cache()).wrap(storeCompressed()).handle(…)`.
 * Each variant is compressed once, when it is stored; the cache keeps them apart by `Vary`.
 * @throws ConfigError like {@link compress}.
 */
export function storeCompressed(options: CompressOptions = {}): Wrapper {
  const compressor = new Compressor('storeCompressed', options)
  const compressed = (cx: Context, given: Reply): Reply => {
    if (answerWeakly(cx, given)) varyOn(given.headers, 'Accept-Encoding')
    const { body } = given
    if (body !== null && 'splice' in body) return given
    if (body === null && cx.request.method !== 'HEAD') return given
    const reply = editable(given)
    const replacement = compressor.judge(cx, reply)
    if (replacement === undefined) return reply
    contentChanged(reply.headers)
    if (body !== null) reply.body = replacement(isSource(body) ? body : sourceOf(body))
    return reply
  }
  return <S extends object, P extends object>(inner: Handler<S, P>): Handler<S, P> =>
    cx => {
      const reply = inner(cx)
      return reply instanceof Promise
        ? reply.then(made => compressed(cx as unknown as Context, made))
        : compressed(cx as unknown as Context, reply)
    }
}

class Compressor {
  readonly #choose: ReturnType<typeof chooser>
  readonly #isFor: (contentType: string | undefined) => boolean
  readonly #minLength: number
  readonly #levels: Levels
  readonly #slots: Slots
  readonly #skip: ((cx: Context, head: ReplyHead) => boolean) | undefined

  constructor(place: string, options: CompressOptions) {
    const faults: ConfigFault[] = []
    const given = readOptions<CompressOptions>(place, options, RULES, faults)
    if (faults.length > 0) throw new ConfigError(faults)
    this.#choose = chooser(given.encodings ?? CODINGS)
    this.#isFor = typeTest(given.types ?? TYPES)
    this.#minLength = given.minLength ?? 1024
    this.#levels = { ...LEVELS, ...given.levels }
    this.#slots = new Slots(given.maxStreams ?? 256)
    this.#skip = given.skip
  }

  /** What to do with a body; the head is edited for it. */
  judge(cx: Context, head: ReplyHead): BodyReplacement | undefined {
    const { headers } = head
    if (!hasWholeContent(head) || !this.#isFor(headers.get('content-type'))) return undefined
    if (isCoded(headers.joined('content-encoding')) || forbidsChange(headers)) return undefined
    if (this.#skip?.(cx, head) === true) return undefined
    const length = headers.get('content-length')
    const short = length !== undefined && Number(length) < this.#minLength
    const { request } = cx
    const { coding, identity } = this.#choose(request.headers.joined('accept-encoding'))
    if (short && identity) return undefined
    varyOn(headers, 'Accept-Encoding')
    if (coding === null || forbidsChange(request.headers)) return undefined
    const isHead = request.method === 'HEAD'
    const free = isHead ? null : this.#slots.take()
    if (free === null && !isHead) return undefined
    headers.set('Content-Encoding', coding)
    return body => new EncodedSource(body, coding, this.#levels[coding], free)
  }
}

function isCoded(value: string | undefined): boolean {
  return value !== undefined && !/^[\s,]*(?:identity[\s,]*)*$/i.test(value)
}

const encodings: Rule = {
  check(place, value, faults) {
    const known = Object.keys(HIGHEST)
    const fix = `Write an array of ${known.map(name => `'${name}'`).join(', ')}.`
    if (!Array.isArray(value) || value.length === 0) {
      faults.push({ place, problem: `it is ${kindOf(value)}, not a list of codings`, fix })
      return
    }
    for (const one of value) {
      if (!known.includes(one)) faults.push({ place, problem: `${show(one)} is unknown`, fix })
      else if (one === 'zstd' && !hasZstd) {
        const problem = `this Node (${process.version}) has no zstd`
        faults.push({ place, problem, fix: 'Leave it out, or use Node 22.15 or later.' })
      }
    }
  },
}

const levels: Rule = {
  check(place, value, faults) {
    const level = (name: Coding, least: number): Rule => whole(least, HIGHEST[name])
    readOptions<Record<Coding, number>>(
      place,
      value,
      { br: level('br', 0), zstd: level('zstd', 1), gzip: level('gzip', 1), deflate: level('deflate', 1) },
      faults,
    )
    if (value === null)
      faults.push({ place, problem: 'it is null, not an object', fix: 'Write for example { br: 5 }.' })
  },
}

const RULES: Table<CompressOptions> = {
  encodings,
  types: mediaTypes,
  minLength: whole(0, Number.MAX_SAFE_INTEGER),
  levels,
  maxStreams: whole(1, 65_536),
  skip: callback,
}
