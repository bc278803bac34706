import { parseMacro } from '../engine/macro.ts'
import { Mistake } from '../parse/fault.ts'
import type { Assignment, Expiry, Initialisation } from './model.ts'

/** Collections that rules may write. */
const WRITABLE: ReadonlySet<string> = new Set(['TX', 'GLOBAL', 'IP', 'RESOURCE', 'SESSION', 'USER'])

/** Reads `tx.a=v`, `tx.a=+1`, `tx.a=-%{tx.b}`, `!tx.a`, `tx.a`. */
export function readSetvar(text: string): Assignment {
  const removes = text.startsWith('!')
  const equals = text.indexOf('=')
  const name = (equals === -1 ? text.slice(removes ? 1 : 0) : text.slice(0, equals)).trim()
  const { collection, key } = readName(name)
  if (removes) return { collection, key, value: null, sign: 0 }
  const value = equals === -1 ? '1' : text.slice(equals + 1)
  const sign = value.startsWith('+') ? 1 : value.startsWith('-') ? -1 : 0
  return { collection, key, value: parseMacro(sign === 0 ? value : value.slice(1)), sign }
}

/** Reads `ip=%{REMOTE_ADDR}`. */
export function readInitcol(text: string): Initialisation {
  const found = /^([A-Za-z]+)=(.+)$/.exec(text.trim())
  const collection = found?.[1]?.toUpperCase() ?? ''
  if (!found || collection === 'TX' || !WRITABLE.has(collection)) {
    throw new Mistake(
      `initcol '${text}' names no collection`,
      'Write ip=%{REMOTE_ADDR}; also global, resource, session, user.',
    )
  }
  return { collection, key: parseMacro(found[2]!) }
}

/** Reads `ip.blocked=60`. */
export function readExpirevar(text: string): Expiry {
  const equals = text.indexOf('=')
  if (equals === -1) throw new Mistake(`expirevar '${text}' has no time`, 'Write ip.name=seconds.')
  return { ...readName(text.slice(0, equals).trim()), seconds: parseMacro(text.slice(equals + 1).trim()) }
}

function readName(name: string): Pick<Assignment, 'collection' | 'key'> {
  const dot = name.indexOf('.')
  const collection = name.slice(0, dot).toUpperCase()
  if (dot < 1 || dot === name.length - 1 || !WRITABLE.has(collection)) {
    throw new Mistake(
      `'${name}' is no variable that can be set`,
      `Write collection.name; collections are ${[...WRITABLE].join(', ')}.`,
    )
  }
  return { collection, key: parseMacro(name.slice(dot + 1)) }
}
