/** Cross-origin requests from browsers (WHATWG Fetch, 3.2). */
import { flag, needed, readOptions, show, strings, unchecked, whole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { HeaderList, isFieldName } from '../headers/list.ts'
import type { Context, Filter, Reply, ReplyHead, RequestHead } from '../pipeline/contract.ts'

/** Options of {@link cors}. */
export interface CorsOptions {
  /**
   * Origins that may read replies: a list of exact origins, `'*'` for all, or a function. `'null'` (sandboxed frames, files)
   * only when listed: a function is not asked about it, because any site can make itself such an origin.
   */
  origins: '*' | readonly string[] | ((origin: string) => boolean)
  /** Methods beyond GET, HEAD and POST that may be used; default PUT, PATCH and DELETE. */
  methods?: readonly string[]
  /** Request headers that may be sent beyond the safelisted ones; default `Content-Type` and `Authorization`. */
  headers?: readonly string[]
  /** Reply headers that scripts may read beyond the safelisted ones; default none. */
  exposedHeaders?: readonly string[]
  /** Let cookies and HTTP authentication along; not with `'*'`. Default false. */
  credentials?: boolean
  /** Seconds that a browser may remember a preflight, up to a day; default 600. */
  maxAge?: number
  /** Let allowed public sites reach this server in a private network (Private Network Access); not with `'*'`. Default false. */
  privateNetwork?: boolean
}

/**
 * Answers preflights with 204 and says on replies which origin may read them. Whatever the upstream says of
 * `Access-Control-*` is replaced. An origin that is not allowed gets a reply without permission, which the browser withholds.
 * @example pipeline().use(cors({ origins: ['https://app.example.com'], credentials: true }))
 * @throws ConfigError with every fault of the options.
 */
export function cors(options: CorsOptions): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<CorsOptions>('cors', options, RULES, faults)
  const { origins = [], credentials = false, maxAge = 600, privateNetwork = false } = given
  const { headers = ['Content-Type', 'Authorization'], exposedHeaders = [] } = given
  if (given.origins !== undefined) faults.push(...faultsOf({ ...given, origins }))
  if (faults.length > 0) throw new ConfigError(faults)

  const everybody = origins === '*'
  const listed = Array.isArray(origins) ? new Set<string>(origins) : null
  const allowedMethods = [
    ...new Set(['GET', 'HEAD', 'POST', ...(given.methods ?? ['PUT', 'PATCH', 'DELETE'])]),
  ].join(', ')
  const allowedHeaders = headers.join(', ')
  const exposed = exposedHeaders.join(', ')

  function allows(origin: string | undefined): origin is string {
    if (origin === undefined) return false
    if (listed) return listed.has(origin)
    // Exactly true: the promise of an asynchronous function would allow everybody.
    return origin !== 'null' && (origins as (origin: string) => boolean)(origin) === true
  }

  /** Says who may read. Everybody is told even without an `Origin`, because a cache may give that reply to a site. */
  function permit(out: HeaderList, request: RequestHead): boolean {
    if (everybody) {
      out.append('Access-Control-Allow-Origin', '*')
      return true
    }
    addVary(out)
    const origin = originOf(request)
    if (!allows(origin)) return false
    out.append('Access-Control-Allow-Origin', origin)
    if (credentials) out.append('Access-Control-Allow-Credentials', 'true')
    return true
  }

  return {
    name: 'cors',
    onRequest: function answerPreflight(cx: Context): Reply | undefined {
      const { request } = cx
      if (!isPreflight(request)) return undefined
      const out = new HeaderList()
      if (permit(out, request)) {
        out.append('Access-Control-Allow-Methods', allowedMethods)
        if (allowedHeaders !== '') out.append('Access-Control-Allow-Headers', allowedHeaders)
        out.append('Access-Control-Max-Age', String(maxAge))
        if (privateNetwork && request.headers.get('access-control-request-private-network') === 'true')
          out.append('Access-Control-Allow-Private-Network', 'true')
      }
      return { status: 204, headers: out, body: null, reason: 'preflight' }
    },
    onReply: function permitReading(cx: Context, head: ReplyHead): undefined {
      // Nobody else answers one, so the reply is the gate's own and complete.
      if (isPreflight(cx.request)) return
      head.headers.deleteWhere(isPermission)
      if (permit(head.headers, cx.request) && exposed !== '')
        head.headers.append('Access-Control-Expose-Headers', exposed)
    },
  }
}

const PERMISSION = 'access-control-'

function isPermission(name: string): boolean {
  return name.length > PERMISSION.length && name.slice(0, PERMISSION.length).toLowerCase() === PERMISSION
}

function isPreflight({ method, headers }: RequestHead): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method') && headers.has('origin')
}

/** The origin; none when there are several, which no browser sends. */
function originOf({ headers }: RequestHead): string | undefined {
  const values = headers.all('origin')
  return values.length === 1 ? values[0] : undefined
}

/** The reply differs by origin: shared caches must know (RFC 9110, 12.5.5). */
function addVary(out: HeaderList): void {
  const told = out.joined('vary')
  if (told === undefined) out.append('Vary', 'Origin')
  else if (!/(?:^|,)[\t ]*(?:\*|origin)[\t ]*(?:,|$)/i.test(told)) out.append('Vary', 'Origin')
}

const RULES = {
  origins: needed(unchecked),
  methods: strings,
  headers: strings,
  exposedHeaders: strings,
  credentials: flag,
  maxAge: whole(0, 86_400),
  privateNetwork: flag,
}

const EVERYBODY = 'every site could act as the user'

function faultsOf(options: CorsOptions): ConfigFault[] {
  const { origins, credentials, methods = [], headers = [], exposedHeaders = [] } = options
  const faults: ConfigFault[] = []
  const add = (place: string, problem: string, fix: string): void => void faults.push({ place, problem, fix })
  if (origins === '*' && credentials)
    add('cors.origins', `'*' cannot go with credentials: ${EVERYBODY}`, 'List the origins.')
  if (origins === '*' && options.privateNetwork)
    add(
      'cors.origins',
      "'*' cannot go with privateNetwork: every site could look inside",
      'List the origins.',
    )
  if (Array.isArray(origins)) {
    const fix = "Write 'https://app.example.com', without a path or a slash at the end, or use a function."
    for (const origin of origins as readonly string[])
      if (typeof origin !== 'string' || !isOrigin(origin))
        add('cors.origins', `${show(origin)} is no origin`, fix)
  } else if (origins !== '*' && typeof origins !== 'function') {
    add('cors.origins', "it is no list, no function and not '*'", "List origins, or write '*'.")
  }
  for (const name of [...methods, ...headers, ...exposedHeaders]) {
    if (!isFieldName(name)) add('cors', `'${name}' is no token`, 'Correct the name.')
    else if (name === '*' && credentials)
      add('cors', "'*' is only a name for browsers when credentials go along", 'List the names.')
  }
  return faults
}

/** As browsers write it: of a web address without its default port, of another scheme (apps, extensions) scheme and host. */
function isOrigin(text: string): boolean {
  if (text === 'null') return true
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(text) || !URL.canParse(text)) return false
  const { origin } = new URL(text)
  return origin === 'null' ? text === text.toLowerCase() : origin === text
}
