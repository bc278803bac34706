/** Text of clients made fit for a log: bounded, printable, without secrets. */

/** What stands in place of a secret. */
export const REDACTED = '[redacted]'

/** Parameters whose values are secrets by their names. */
const SECRET_PARAMETERS = [
  ...['access_token', 'refresh_token', 'id_token', 'token', 'auth', 'authorization', 'jwt'],
  ...['session', 'sid', 'sessionid', 'session_id', 'phpsessid', 'jsessionid'],
  ...[
    'password',
    'passwd',
    'pwd',
    'secret',
    'client_secret',
    'api_key',
    'apikey',
    'api-key',
    'key',
    'code',
    'otp',
  ],
  ...['sig', 'signature', 'x-amz-signature', 'x-amz-credential', 'x-amz-security-token', 'x-goog-signature'],
]

/**
 * Names, in lower case, of parameters whose values are never told: the usual ones of passwords, keys, tokens, sessions and signatures,
 * and `more`.
 */
export function secretNames(more: readonly string[]): ReadonlySet<string> {
  return new Set([...SECRET_PARAMETERS, ...more.map(name => name.toLowerCase())])
}

/**
 * Text in printable ASCII, cut at `most` characters. Everything else becomes `\xNN`: a log is read on terminals, and
 * JSON leaves the controls from 0x7f to 0x9f as they are.
 */
export function printable(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  let plain = true
  for (let i = 0; i < text.length && i < most; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) {
      plain = false
      break
    }
  }
  return plain ? cut : escaped(cut)
}

function escaped(text: string): string {
  return text.replace(/[^\x20-\x7e…]/g, c => {
    const code = c.charCodeAt(0)
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/**
 * A query with the values of the named parameters replaced. `names` are in lower case. Names are compared as a server
 * would read them: percent-decoded, without case, and each part of `user[token]`.
 */
export function redactQuery(query: string, names: ReadonlySet<string>): string {
  if (query === '' || names.size === 0) return query
  let out = ''
  let from = 0
  while (from <= query.length) {
    let end = from
    let equals = -1
    while (end < query.length) {
      const code = query.charCodeAt(end)
      // Some servers take `;` for a separator too; to them a secret may begin behind one.
      if (code === 0x26 || code === 0x3b) break
      if (code === 0x3d && equals === -1) equals = end
      end++
    }
    if (equals === -1) out += query.slice(from, end)
    else if (isSecret(query.slice(from, equals), names)) out += query.slice(from, equals + 1) + REDACTED
    else out += query.slice(from, end)
    if (end < query.length) out += query[end]
    from = end + 1
  }
  return out
}

/** An address from a client, `Referer` for example, with its query redacted and its fragment removed. */
export function redactAddress(address: string, names: ReadonlySet<string>): string {
  const hash = address.indexOf('#')
  const bare = hash === -1 ? address : address.slice(0, hash)
  const mark = bare.indexOf('?')
  const place = (mark === -1 ? bare : bare.slice(0, mark)).replace(/\/\/[^/@]*@/, `//${REDACTED}@`)
  return mark === -1 ? place : `${place}?${redactQuery(bare.slice(mark + 1), names)}`
}

/** True when a server may read a secret's name here: also in `user[token]`, `token[0]` and `user.token`. */
function isSecret(raw: string, names: ReadonlySet<string>): boolean {
  let name = raw
  if (name.includes('%') || name.includes('+')) {
    // Byte by byte: a broken escape must not hide the name around it.
    name = name
      .replace(/\+/g, ' ')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  name = name.trim().toLowerCase()
  if (names.has(name)) return true
  return /[[.]/.test(name) && name.split(/[[\].]/).some(part => names.has(part.trim()))
}
