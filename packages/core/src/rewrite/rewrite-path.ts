/** Filters that change the path on its way to the upstream. */
import { ConfigError, ProxyError } from '../errors.ts'
import type { Filter, ForwardHead } from '../pipeline/contract.ts'
import { compileTemplate, type PathTemplate, rewriteTarget } from './path-template.ts'

/**
 * Rewrites the path by a template. `from` is a pattern as of a route, `to` puts its parts together anew: their bytes are kept as
 * the client wrote them, and so is the query. A path that does not fit is left alone. It runs for each attempt, before the
 * target's base path is put in front; routes, gates and logs see what the client asked for.
 *
 * A path of which origins could see another part rewritten (`/x/../app/y`) is refused: 400 `ambiguous-path`.
 * @example rewritePath('/shops/:shop/items/*rest', '/v2/items/:shop/*rest')
 * @throws ConfigError for a pattern or template that cannot work.
 */
export function rewritePath(from: string, to: string): Filter {
  return rewriting('rewrite-path', compiled('rewritePath', from, to))
}

/**
 * Takes a prefix off: `/app/x` becomes `/x`, `/app` becomes `/`; `/apple` is left alone.
 * @example pipeline().route('/app/*', r => r.use(stripPrefix('/app')).handle(proxy(app)))
 * @throws ConfigError for what is no prefix.
 */
export function stripPrefix(prefix: string): Filter {
  return rewriting('strip-prefix', compiled('stripPrefix', `${bare('stripPrefix', prefix)}/*`, '/*'))
}

/**
 * Puts a prefix in front of every path.
 * @example addPrefix('/v1')
 * @throws ConfigError for what is no prefix.
 */
export function addPrefix(prefix: string): Filter {
  return rewriting('add-prefix', compiled('addPrefix', '/*', `${bare('addPrefix', prefix)}/*`))
}

function rewriting(name: string, template: PathTemplate): Filter {
  return {
    name,
    onForward(_cx, out: ForwardHead): void {
      if (out.target === '*') return
      const made = rewriteTarget(template, out.target)
      if (made === 'ambiguous')
        throw new ProxyError({ source: 'client', phase: 'head', code: 'ambiguous-path' })
      if (made !== null) out.target = made
    },
  }
}

function compiled(place: string, from: string, to: string): PathTemplate {
  const template = compileTemplate(from, to)
  if (typeof template !== 'string') return template
  throw new ConfigError([{ place, problem: template, fix: 'Write paths like /users/:id/*rest.' }])
}

function bare(place: string, prefix: string): string {
  if (typeof prefix === 'string' && /^(?:\/[^/:*?#\s]+)+$/.test(prefix)) return prefix
  throw new ConfigError([
    { place, problem: 'it is no prefix', fix: "Write for example '/app', without a slash at the end." },
  ])
}
