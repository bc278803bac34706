/** Fields set, added and removed, on the way in and on the way out. */
import { readOptions, something, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { type HeaderList, isFieldName, isFieldValue } from '../headers/list.ts'
import type { Context, Filter, ForwardHead, ReplyHead } from '../pipeline/contract.ts'

/** A value, or what makes one for a request; `undefined` leaves the field as it is. */
export type FieldValue = string | ((cx: Context) => string | undefined)

/** Options of {@link editRequestHeaders} and {@link editReplyHeaders}: first `remove`, then `set`, then `add`. */
export interface EditHeadersOptions {
  /** Names of fields to leave out. */
  remove?: readonly string[]
  /** Fields with one value, whatever there was. */
  set?: Readonly<Record<string, FieldValue>>
  /** Lines put behind those that there are. */
  add?: Readonly<Record<string, FieldValue>>
}

/**
 * Edits what the upstream sees, once per attempt. Framing (`Host`, `Content-Length`, `Connection`, …) is the proxy's own. `set` and
 * `remove` take other spellings along that servers fold onto the name (`X_User` for `X-User`).
 * @example editRequestHeaders({ set: { 'X-Tenant': cx => cx.request.authority.split('.')[0] } })
 * @throws ConfigError for names and values that cannot be sent.
 */
export function editRequestHeaders(options: EditHeadersOptions): Filter {
  const edit = editor('editRequestHeaders', options)
  return {
    name: 'edit-request-headers',
    onForward: (cx: Context, out: ForwardHead): void => edit(cx, out.headers),
  }
}

/**
 * Edits what the client sees.
 * @example editReplyHeaders({ remove: ['Server', 'X-Powered-By'] })
 * @throws ConfigError for names and values that cannot be sent.
 */
export function editReplyHeaders(options: EditHeadersOptions): Filter {
  const edit = editor('editReplyHeaders', options)
  return {
    name: 'edit-reply-headers',
    onReply: (cx: Context, head: ReplyHead): undefined => edit(cx, head.headers) as undefined,
  }
}

/** Fields that say how a message is framed; changing them would change where it ends. */
const FRAMING = new Set([
  ...[
    'host',
    'content-length',
    'transfer-encoding',
    'connection',
    'upgrade',
    'expect',
    'keep-alive',
    'te',
    'trailer',
  ],
])

function editor(place: string, options: EditHeadersOptions): (cx: Context, headers: HeaderList) => void {
  const faults: ConfigFault[] = []
  const given = readOptions<EditHeadersOptions>(place, options, RULES, faults)
  const { remove = [], set = {}, add = {} } = given
  for (const name of [...remove, ...Object.keys(set), ...Object.keys(add)]) {
    if (FRAMING.has(name.toLowerCase())) {
      const fix = 'Leave it out: the edge writes it itself.'
      faults.push({ place: `${place}.${name}`, problem: 'it says how a message is framed', fix })
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const [setting, adding] = [Object.entries(set), Object.entries(add)]
  return (cx, headers) => {
    for (const name of remove) headers.delete(name)
    for (const [name, value] of setting) {
      const made = typeof value === 'function' ? value(cx) : value
      if (made !== undefined) headers.set(name, made)
    }
    for (const [name, value] of adding) {
      const made = typeof value === 'function' ? value(cx) : value
      if (made !== undefined) headers.append(name, made)
    }
  }
}

const fields = something(
  'an object of fields and values',
  value =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(
      ([name, made]) =>
        isFieldName(name) && (typeof made === 'function' || (typeof made === 'string' && isFieldValue(made))),
    ),
  "Write for example { 'X-Name': 'value' }.",
)

const RULES: Table<EditHeadersOptions> = {
  remove: something(
    'an array of field names',
    value => Array.isArray(value) && value.every(name => typeof name === 'string' && isFieldName(name)),
  ),
  set: fields,
  add: fields,
}
