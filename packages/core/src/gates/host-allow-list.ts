/** Refuses requests for hosts that are not served here with 421. */
import { needed, readOptions, strings } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import { hostOf, normaliseAuthority, portOf } from '../headers/authority.ts'
import type { Context, Filter, Reply } from '../pipeline/contract.ts'
import { refuse } from '../reply.ts'
import { HostTable } from '../router/hosts.ts'

/** Options of {@link hostAllowList}. */
export interface HostAllowListOptions {
  /**
   * Names that are served: `example.com`, `*.example.com` (one or more labels in front), an IP literal. With a port
   * (`example.com:8443`) only that port, also the scheme's own; without one, any.
   */
  hosts: readonly string[]
}

/**
 * Refuses a request whose authority is not in the list: 421 (RFC 9110, 15.5.20), reason `misdirected`. It stops host
 * header attacks (poisoned links, cache keys and password resets) and DNS rebinding.
 * @example pipeline().use(hostAllowList({ hosts: ['example.com', '*.example.com'] }))
 * @throws ConfigError with every entry that is no host.
 */
export function hostAllowList(options: HostAllowListOptions): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<HostAllowListOptions>(
    'hostAllowList',
    options,
    { hosts: needed(strings) },
    faults,
  )
  const { hosts = [] } = given
  if (given.hosts?.length === 0) faults.push(fault('it is empty'))
  const names = new HostTable<true>()
  const withPort = new Set<string>()
  for (const entry of hosts) {
    const wild = entry.startsWith('*.')
    const bare = normaliseAuthority(wild ? entry.slice(2) : entry, 'http')
    // Asked of the entry, because the normalised form has lost a default port.
    const port = /:(\d*)$/.exec(entry.endsWith(']') ? '' : entry)
    if (bare === null || (wild && (port || bare.startsWith('['))) || port?.[1] === '') {
      faults.push(fault(`'${entry}' is no host name`))
    } else if (port) withPort.add(`${hostOf(bare)}:${Number(port[1])}`)
    else names.add(wild ? `*.${bare}` : bare, true)
  }
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    name: 'host-allow-list',
    onRequest: function checkHost(cx: Context): Reply | undefined {
      const { authority, scheme } = cx.request
      const host = hostOf(authority)
      if (names.find(host)) return undefined
      if (withPort.size > 0 && withPort.has(`${host}:${portOf(authority, scheme)}`)) return undefined
      return refuse(421, 'misdirected')
    },
  }
}

function fault(problem: string): { place: string; problem: string; fix: string } {
  return { place: 'hostAllowList.hosts', problem, fix: "Write names like 'example.com' or '*.example.com'." }
}
