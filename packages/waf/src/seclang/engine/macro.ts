/** `%{VARIABLE.key}` in texts of rules. */
import type { Macro, MacroPart } from '../operators/operator.ts'

/** Reads a text. What looks like a macro but is none stays as it is. */
export function parseMacro(source: string): Macro {
  if (!source.includes('%{')) return { source, constant: source, parts: [source] }
  const parts: MacroPart[] = []
  let from = 0
  for (const found of source.matchAll(/%\{([A-Za-z][A-Za-z0-9_]*)(?:[.:]([^{}]+))?\}/g)) {
    if (found.index > from) parts.push(source.slice(from, found.index))
    parts.push({ variable: found[1]!.toUpperCase(), key: found[2]?.toLowerCase() ?? null, source: found[0] })
    from = found.index + found[0].length
  }
  if (from < source.length) parts.push(source.slice(from))
  const plain = parts.every(part => typeof part === 'string')
  return { source, constant: plain ? source : null, parts }
}
