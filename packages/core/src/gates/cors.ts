/** Cross-origin requests from browsers (WHATWG Fetch, 3.2). */
import { assertWhole } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { HeaderList, isFieldName } from '../headers/list.ts'
import type { Context, Filter, Reply, ReplyHead } from '../pipeline/contract.ts'

/** Options of {@link cors}. */
export interface CorsOptions {
  /** Origins that may read replies: a list of exact origins, `'*'` for all, or a function. `'null'` only when listed. */
  origins: '*' | readonly string[] | ((origin: string) => boolean)
  /** Methods beyond GET, HEAD and POST that may be used; default PUT, PATCH and DELETE. */
  methods?: readonly string[]
  /** Request headers that may be sent beyond the safelisted ones; default `Content-Type` and `Authorization`. */
  headers?: readonly string[]
  /** Reply headers that scripts may read beyond the safelisted ones; default none. */
  exposedHeaders?: readonly string[]
  /** Let cookies and HTTP authentication along; not with `'*'`. Default false. */
  credentials?: boolean
  /** Seconds that a browser may remember a preflight; default 600. */
  maxAge?: number
}

/**
 * Answers preflights with 204 and says on replies which origin may read them. Whatever the upstream says of
 * `Access-Control-*` is replaced. An origin that is not allowed gets a reply without permission, which the browser withholds.
 * @example pipeline().use(cors({ origins: ['https://app.example.com'], credentials: true }))
 * @throws ConfigError with every fault of the options.
 */
export function cors(options: CorsOptions): Filter {
  const { origins, credentials = false, maxAge = 600 } = options
  const {
    methods = ['PUT', 'PATCH', 'DELETE'],
    headers = ['Content-Type', 'Authorization'],
    exposedHeaders = [],
  } = options
  const faults = faultsOf(options)
  assertWhole('cors.maxAge', maxAge, 0, 86_400, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  const everybody = origins === '*'
  const listed = Array.isArray(origins) ? new Set<string>(origins) : null
  const allows = (origin: string): boolean =>
    everybody || (listed ? listed.has(origin) : (origins as (origin: string) => boolean)(origin))
  const allowedMethods = ['GET', 'HEAD', 'POST', ...methods].join(', ')
  const allowedHeaders = headers.join(', ')
  const exposed = exposedHeaders.join(', ')

  function permit(out: HeaderList, origin: string | undefined): boolean {
    if (!everybody) addVary(out)
    if (origin === undefined || !allows(origin)) return false
    out.append('Access-Control-Allow-Origin', everybody ? '*' : origin)
    if (credentials) out.append('Access-Control-Allow-Credentials', 'true')
    return true
  }

  return {
    name: 'cors',
    onRequest: function answerPreflight(cx: Context): Reply | undefined {
      const { request } = cx
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method'))
        return undefined
      const origin = request.headers.get('origin')
      if (origin === undefined) return undefined
      const out = new HeaderList()
      // onReply adds the rest: it runs for this reply too.
      if (allows(origin)) {
        out.append('Access-Control-Allow-Methods', allowedMethods)
        if (allowedHeaders !== '') out.append('Access-Control-Allow-Headers', allowedHeaders)
        out.append('Access-Control-Max-Age', String(maxAge))
      }
      return { status: 204, headers: out, body: null, reason: 'preflight' }
    },
    onReply: function permitReading(cx: Context, head: ReplyHead): undefined {
      const preflight = 'reason' in head && head.reason === 'preflight'
      if (!preflight) head.headers.deleteWhere(isPermission)
      const allowed = permit(head.headers, cx.request.headers.get('origin'))
      if (allowed && exposed !== '' && !preflight)
        head.headers.append('Access-Control-Expose-Headers', exposed)
    },
  }
}

const PERMISSION = 'access-control-'

function isPermission(name: string): boolean {
  return name.length > PERMISSION.length && name.slice(0, PERMISSION.length).toLowerCase() === PERMISSION
}

/** The reply differs by origin: shared caches must know (RFC 9110, 12.5.5). */
function addVary(out: HeaderList): void {
  const told = out.joined('vary')
  if (told === undefined) out.append('Vary', 'Origin')
  else if (!/(?:^|,)\s*(?:\*|origin)\s*(?:,|$)/i.test(told)) out.append('Vary', 'Origin')
}

function faultsOf(options: CorsOptions): ConfigFault[] {
  const { origins, credentials, methods = [], headers = [], exposedHeaders = [] } = options
  const faults: ConfigFault[] = []
  if (origins === '*' && credentials) {
    const problem = "'*' cannot go with credentials: every site could act as the user"
    faults.push({ place: 'cors.origins', problem, fix: 'List the origins.' })
  }
  if (Array.isArray(origins)) {
    for (const origin of origins as readonly string[]) {
      if (origin === 'null' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue
      const fix = "Write 'https://app.example.com', without a path or a slash at the end."
      faults.push({ place: 'cors.origins', problem: `'${origin}' is no origin`, fix })
    }
  } else if (origins !== '*' && typeof origins !== 'function') {
    faults.push({ place: 'cors.origins', problem: 'it is missing', fix: "List origins, or write '*'." })
  }
  for (const name of [...methods, ...headers, ...exposedHeaders]) {
    if (!isFieldName(name))
      faults.push({ place: 'cors', problem: `'${name}' is no token`, fix: 'Correct the name.' })
  }
  return faults
}
