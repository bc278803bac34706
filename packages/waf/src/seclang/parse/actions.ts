import { Mistake } from './fault.ts'

/** An action as written. */
export interface ActionSpec {
  /** Lower case. */
  readonly name: string
  /** Without its quotes; `null` without a colon. */
  readonly value: string | null
}

/** Reads `id:1,phase:2,msg:'it''s here',setvar:tx.a=+1`. Commas inside single quotes do not split. */
export function parseActions(text: string): ActionSpec[] {
  const found: ActionSpec[] = []
  for (const part of splitActions(text)) {
    const colon = part.indexOf(':')
    const name = (colon === -1 ? part : part.slice(0, colon)).trim().toLowerCase()
    if (!/^[a-z]+$/.test(name)) {
      throw new Mistake(
        `'${part.slice(0, 40)}' is no action`,
        "Separate actions by commas, and quote values with commas: msg:'a, b'.",
      )
    }
    found.push({ name, value: colon === -1 ? null : unquote(part.slice(colon + 1).trim()) })
  }
  return found
}

function splitActions(text: string): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === '\\' && quoted) at += 1
    else if (letter === "'") quoted = !quoted
    else if (letter === ',' && !quoted) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  if (quoted)
    throw new Mistake(
      'a single quote in the actions is not closed',
      "Close it, or write \\' inside a quoted value.",
    )
  parts.push(text.slice(start))
  return parts.map(part => part.trim()).filter(part => part !== '')
}

function unquote(value: string): string {
  const quoted = value.length > 1 && value.startsWith("'") && value.endsWith("'")
  return (quoted ? value.slice(1, -1) : value).replaceAll("\\'", "'")
}
