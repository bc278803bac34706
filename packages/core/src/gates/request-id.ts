/** One id for each request, the same in the log, at the origin and at the client. */
import { callback, oneOf, readOptions, show, text } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { isFieldName } from '../headers/list.ts'
import { END_TO_END, kindOf } from '../headers/names.ts'
import type { Context, Filter, ForwardHead, ReplyHead } from '../pipeline/contract.ts'
import { onlyValue, replaceField } from './fields.ts'
import { randomHex } from './random-hex.ts'

const SHORTEST = 8
const LONGEST = 128
const LEGAL = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-')
  LEGAL[c.charCodeAt(0)] = 1

/** Options of {@link requestId}. */
export interface RequestIdOptions {
  /** Field that carries the id; default `X-Request-ID`. */
  header?: string
  /**
   * Whose id is taken over; default `trusted`: only that of a trusted peer (the pipeline's `trust` option). With
   * `always` any client chooses what stands in the log, so that ids are no longer unique; with `never` nobody does.
   * An id has 8 to 128 characters out of letters, digits, `.`, `_`, `~`, `-`; any other is replaced.
   */
  accept?: 'trusted' | 'always' | 'never'
  /** Makes an id; default 128 random bits as 32 hex digits. */
  generate?: () => string
}

const RULES = { header: text, accept: oneOf('trusted', 'always', 'never'), generate: callback }

/** What {@link requestId} adds to the state. */
export interface RequestIdState {
  requestId: string
}

/**
 * Gives each request an id: `cx.state.requestId`. The origin gets it in place of what the client sent (spellings
 * like `X_Request_Id` are removed too), the client gets it back in the reply.
 * @example pipeline({ trust: ['10.0.0.0/8'] }).use(requestId())
 * @throws ConfigError for a `header` that is no name of an end-to-end field.
 */
export function requestId(options: RequestIdOptions = {}): Filter<object, RequestIdState> {
  const faults: ConfigFault[] = []
  const given = readOptions<RequestIdOptions>('requestId', options, RULES, faults)
  const { header = 'X-Request-ID', accept = 'trusted', generate } = given
  checkHeader(header, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const lower = header.toLowerCase()
  const make = generate ? (): string => checked(generate()) : (): string => randomHex(16)

  return {
    name: 'request-id',
    state: () => ({ requestId: '' }),
    onRequest: function takeRequestId(cx: Context<RequestIdState>): undefined {
      const { request } = cx
      if (accept === 'always' || (accept === 'trusted' && request.peerTrusted)) {
        const given = onlyValue(request.headers.raw, lower)
        if (given && isRequestId(given)) {
          cx.state.requestId = given
          return
        }
      }
      cx.state.requestId = make()
    },
    onForward: function forwardRequestId(cx: Context<RequestIdState>, out: ForwardHead): void {
      replaceField(out.headers.raw, header, lower, cx.state.requestId)
    },
    onReply: function returnRequestId(cx: Context<RequestIdState>, head: ReplyHead): undefined {
      // A refused head has passed no request hook, and is just the one that somebody will ask about.
      if (cx.state.requestId === '') cx.state.requestId = make()
      replaceField(head.headers.raw, header, lower, cx.state.requestId)
    },
  }
}

function isRequestId(text: string): boolean {
  const { length } = text
  if (length < SHORTEST || length > LONGEST) return false
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127 || LEGAL[code] === 0) return false
  }
  return true
}

function checked(made: string): string {
  if (typeof made !== 'string' || !isRequestId(made)) {
    throw new TypeError('requestId.generate made no id of 8 to 128 letters, digits, ".", "_", "~" or "-"')
  }
  return made
}

function checkHeader(header: string, faults: ConfigFault[]): void {
  if (isFieldName(header) && kindOf(header) === END_TO_END && !/[_.]/.test(header)) return
  faults.push({
    place: 'requestId.header',
    problem: `${show(header)} is no field that a filter may write`,
    fix: 'Choose a name of its own with hyphens, like X-Request-ID.',
  })
}
