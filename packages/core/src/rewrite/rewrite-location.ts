/** `Location`, `Content-Location` and `Refresh` that lead to where only the edge can go. */
import { needed, readOptions, something, type Table } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Context, Filter, ReplyHead } from '../pipeline/contract.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { mapReference, type Surroundings } from './own-references.ts'

/** Options of {@link rewriteLocation}. */
export interface RewriteLocationOptions {
  /** The group that answers: references to its targets are its own. */
  upstream: Upstream
  /** Prefix that was taken off the path (`stripPrefix`): references get it back. Default none. */
  prefix?: string
  /** Other names by which the upstream calls itself, each `host[:port]`. Default none. */
  names?: readonly string[]
}

/**
 * Leads references back to the client's side: those to a target of the group, to one of `names`, or to the host that the client
 * asked for, and paths from the root. The target's base path is taken off and `prefix` put in front. What leads elsewhere, and
 * relative references, stay byte for byte as they are.
 * @example r.use(stripPrefix('/app')).use(rewriteLocation({ upstream: app, prefix: '/app' })).handle(proxy(app))
 * @throws ConfigError for options that cannot work.
 */
export function rewriteLocation(options: RewriteLocationOptions): Filter {
  const faults: ConfigFault[] = []
  const given = readOptions<RewriteLocationOptions>('rewriteLocation', options, RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  const { upstream, prefix = '', names = [] } = given as RewriteLocationOptions
  const others = names.map(name => name.toLowerCase())

  return {
    name: 'rewrite-location',
    onReply(cx: Context, head: ReplyHead): undefined {
      const { headers } = head
      const [location, content, refresh] = [
        headers.get('location'),
        headers.get('content-location'),
        headers.get('refresh'),
      ]
      if (location === undefined && content === undefined && refresh === undefined) return
      const { scheme, authority } = cx.request
      const { targets } = upstream
      const about: Surroundings = {
        own: [...targets.map(target => target.authority), ...others, authority],
        scheme,
        authority,
        base: commonBase(targets.map(target => target.basePath)),
        prefix,
      }
      if (location !== undefined) headers.set('Location', mapReference(location, about))
      if (content !== undefined) headers.set('Content-Location', mapReference(content, about))
      if (refresh !== undefined) {
        headers.set(
          'Refresh',
          refresh.replace(
            /^(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?)([^"']+)/i,
            (_all, start: string, url: string) => start + mapReference(url, about),
          ),
        )
      }
    },
  }
}

/** The base path of all targets; where they differ nobody knows whose it was. */
function commonBase(paths: readonly string[]): string {
  const [first = '', ...rest] = paths
  return rest.every(path => path === first) ? first : ''
}

const RULES: Table<RewriteLocationOptions> = {
  upstream: needed(
    something(
      'an upstream',
      value => typeof (value as Upstream | null)?.pick === 'function',
      'Pass what upstream({…}) returns.',
    ),
  ),
  prefix: something(
    "a prefix like '/app'",
    value => typeof value === 'string' && /^(?:\/[^/?#\s]+)+$/.test(value),
  ),
  names: something(
    'an array of host[:port]',
    value =>
      Array.isArray(value) && value.every(name => typeof name === 'string' && /^[\w.[\]:-]+$/.test(name)),
  ),
}
