/** What a proxy has to know of a field name, looked up by its exact spelling. */

/** Plain end-to-end field: passed on as it is. */
export const END_TO_END = 0
export const HOST = 1
export const CONNECTION = 2
export const CONTENT_LENGTH = 3
export const TRANSFER_ENCODING = 4
/** Meant for this hop only (RFC 9110, 7.6.1, and what older software sends). */
export const HOP_BY_HOP = 5
export const TE = 6
export const UPGRADE = 7
export const EXPECT = 8
/** Written by the proxy itself: `X-Forwarded-*`, `X-Real-IP`, `Forwarded`. */
export const FORWARDED = 9
/** `X_Forwarded_For`, `X.Real.IP`: what CGI folds onto a name that the edge writes (RFC 3875, 4.1.18). */
export const ALIAS = 10
export const TRAILER = 11
export const COOKIE = 12
/** What an edge in front says of the client or of the request it got; forwarded for trusted peers only. */
export const TOLD_BY_EDGE = 13

const KINDS: Readonly<Record<string, number>> = {
  host: HOST,
  connection: CONNECTION,
  'content-length': CONTENT_LENGTH,
  'transfer-encoding': TRANSFER_ENCODING,
  'keep-alive': HOP_BY_HOP,
  'proxy-connection': HOP_BY_HOP,
  'proxy-authenticate': HOP_BY_HOP,
  'proxy-authentication-info': HOP_BY_HOP,
  'proxy-authorization': HOP_BY_HOP,
  'http2-settings': HOP_BY_HOP,
  // CGI makes HTTP_PROXY of it, which libraries take for the proxy to use (CVE-2016-5385): nobody may send it.
  proxy: HOP_BY_HOP,
  te: TE,
  upgrade: UPGRADE,
  expect: EXPECT,
  trailer: TRAILER,
  cookie: COOKIE,
  forwarded: FORWARDED,
  'x-forwarded-for': FORWARDED,
  'x-forwarded-proto': FORWARDED,
  'x-forwarded-host': FORWARDED,
  'x-forwarded-port': FORWARDED,
  'x-real-ip': FORWARDED,
}

/** Beginnings of names that edges use for what they tell of a request; the managed names above are told apart first. */
const TOLD_PREFIX =
  /^(?:x-forwarded|x-original-|forwarded-|cf-connecting-|x-envoy-external-|x-envoy-original-)/

/** Names by which some edge tells the address, scheme, host, path or certificate of a client. */
const TOLD = new Set([
  ...[
    'client-ip',
    'x-client-ip',
    'true-client-ip',
    'x-cluster-client-ip',
    'fastly-client-ip',
    'cf-pseudo-ipv4',
  ],
  ...[
    'proxy-client-ip',
    'wl-proxy-client-ip',
    'x-remote-ip',
    'x-remote-addr',
    'x-originating-ip',
    'x-proxyuser-ip',
  ],
  ...['x-azure-clientip', 'x-azure-socketip', 'x-appengine-user-ip', 'x-real-port', 'x-real-proto'],
  ...[
    'x-host',
    'x-http-host-override',
    'x-rewrite-url',
    'x-scheme',
    'x-url-scheme',
    'front-end-https',
    'cf-visitor',
  ],
  ...[
    'client-cert',
    'client-cert-chain',
    'x-client-cert',
    'x-ssl-client-cert',
    'ssl-client-cert',
    'x-arr-clientcert',
  ],
  ...['x-ssl-client-verify', 'ssl-client-verify', 'x-ssl-client-dn', 'ssl-client-s-dn', 'x-arr-ssl'],
])

/** End-to-end names whose underscore and dot spellings are dropped too, because filters of this package write them. */
const MANAGED = new Set(['x-request-id', 'early-data'])

const REMEMBERED = 2048
const known = new Map<string, number>()

/** Kind of a field name as spelt. Remembers a bounded number of spellings. */
export function kindOf(name: string): number {
  const kind = known.get(name)
  if (kind !== undefined) return kind
  const found = classify(name.toLowerCase())
  if (known.size < REMEMBERED) known.set(name, found)
  return found
}

function classify(lower: string): number {
  const kind = Object.hasOwn(KINDS, lower) ? KINDS[lower] : undefined
  if (kind !== undefined) return kind
  const folded = foldName(lower)
  const told = TOLD.has(folded) || TOLD_PREFIX.test(folded)
  if (folded !== lower && (told || Object.hasOwn(KINDS, folded) || MANAGED.has(folded))) return ALIAS
  return told ? TOLD_BY_EDGE : END_TO_END
}

/** The spelling that CGI, WSGI and PHP cannot tell from `name`: lower case, `_` and `.` as `-`. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[_.]/g, '-')
}

/** True for a field of one connection (RFC 9110, 7.6.1), which a transport writes by itself. */
export function isHopField(name: string): boolean {
  switch (kindOf(name)) {
    case CONNECTION:
    case HOP_BY_HOP:
    case TRANSFER_ENCODING:
    case UPGRADE:
    case TE:
      return true
  }
  return false
}
