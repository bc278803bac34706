/** Filters that change the query on its way to the upstream; what they do not change keeps its bytes. */
import { ConfigError } from '../errors.ts'
import type { Filter, ForwardHead } from '../pipeline/contract.ts'

/**
 * Puts parameters behind the query, written as they are to be sent.
 * @example addQuery('source=edge&token=1')
 * @throws ConfigError for what cannot stand in a query.
 */
export function addQuery(parameters: string): Filter {
  if (typeof parameters !== 'string' || !/^[!$-;=?-~]+$/.test(parameters)) {
    const fix = "Write for example 'source=edge', percent-encoded where it has to be."
    throw new ConfigError([{ place: 'addQuery', problem: 'it is no part of a query', fix }])
  }
  return {
    name: 'add-query',
    onForward(_cx, out: ForwardHead): void {
      const { target } = out
      if (target === '*') return
      const mark = target.indexOf('?')
      const joint = mark === -1 ? '?' : mark === target.length - 1 ? '' : '&'
      out.target = target + joint + parameters
    },
  }
}

/**
 * Leaves parameters of these names out, however they are spelled: `%74oken` and `token` are one name to a server.
 * @example removeQuery('token', 'debug')
 * @throws ConfigError for no name, and for an empty one.
 */
export function removeQuery(...names: string[]): Filter {
  if (names.length === 0 || names.some(name => typeof name !== 'string' || name === '')) {
    throw new ConfigError([
      { place: 'removeQuery', problem: 'a name is missing', fix: "Write for example removeQuery('token')." },
    ])
  }
  const unwanted = new Set(names)
  return {
    name: 'remove-query',
    onForward(_cx, out: ForwardHead): void {
      const { target } = out
      const mark = target.indexOf('?')
      if (mark === -1) return
      const parameters = target.slice(mark + 1).split('&')
      const kept = parameters.filter(one => !unwanted.has(nameOf(one)))
      if (kept.length === parameters.length) return
      out.target = kept.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${kept.join('&')}`
    },
  }
}

/** The name as form decoders read it; bytes that are no UTF-8 stay as they are. */
function nameOf(parameter: string): string {
  const equals = parameter.indexOf('=')
  const raw = (equals === -1 ? parameter : parameter.slice(0, equals)).replaceAll('+', ' ')
  if (!raw.includes('%')) return raw
  const bytes = raw.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
