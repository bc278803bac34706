/** Lets through the methods on a list; others get 405. */
import { readOptions, show, unchecked } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'

const USUAL: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const NAME = /^[A-Z][A-Z0-9_-]{0,31}$/

/** Options of {@link methods}. */
export interface MethodsOptions {
  /**
   * Methods that pass, in upper case; default the seven of everyday use: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
   * TRACE is not among them because it echoes credentials, CONNECT because an edge opens no tunnels at a client's wish.
   */
  allow?: readonly string[]
}

/**
 * Refuses a request whose method is not on the list: 405 with `Allow` (RFC 9110, 15.5.6), reason `method-not-allowed`.
 * A WebSocket over HTTP/2 comes as an extended CONNECT (RFC 8441) and counts as the GET that it is in HTTP/1.1.
 * @example pipeline().use(methods({ allow: ['GET', 'HEAD'] }))
 * @throws ConfigError for an empty list, a name that is not in upper case, and for CONNECT.
 */
export function methods(options: MethodsOptions = {}): Filter {
  const faults: ConfigFault[] = []
  const { allow = USUAL } = readOptions<MethodsOptions>('methods', options, { allow: unchecked }, faults)
  check(allow, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const allowed = new Set(allow)
  const list = [...allowed].join(', ')

  return {
    name: 'methods',
    onRequest: function checkMethod(cx: Context): Reply | undefined {
      const { method, upgrade } = cx.request
      if (allowed.has(method)) return undefined
      if (method === 'CONNECT' && upgrade !== null && allowed.has('GET')) return undefined
      return refuse(405, 'method-not-allowed', { Allow: list })
    },
  }
}

function check(allow: readonly string[], faults: ConfigFault[]): void {
  const place = 'methods.allow'
  if (!Array.isArray(allow) || allow.length === 0) {
    faults.push({ place, problem: 'no method is listed', fix: "Write for example ['GET', 'HEAD']." })
    return
  }
  for (const method of allow) {
    if (method === 'CONNECT') {
      faults.push({
        place,
        problem: 'CONNECT would ask for a tunnel to anywhere',
        fix: 'Leave it out; a WebSocket over HTTP/2 counts as GET.',
      })
    } else if (typeof method !== 'string' || !NAME.test(method)) {
      faults.push({
        place,
        problem: `${show(method)} is no method name in upper case`,
        fix: 'Methods are case-sensitive: write GET, not get.',
      })
    }
  }
}
