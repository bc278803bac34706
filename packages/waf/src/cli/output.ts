/** What the command prints: nothing from files or requests reaches a terminal unescaped. */

/** The command was called in a way that it does not understand. */
export class UsageError extends Error {}

/** Printable ASCII and line feeds, bounded; other bytes as `\x1b`. */
export function safe(text: string, most = 300): string {
  const cut = text.length > most ? `${text.slice(0, most - 3)}...` : text
  return cut.replace(/[^\n\x20-\x7e]/g, char => {
    const code = char.charCodeAt(0)
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : char
  })
}

/** The same on one line. */
export function line(text: string, most = 300): string {
  return safe(text.replaceAll('\n', '\\n').replaceAll('\r', '\\r'), most)
}

export function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** `1 rule`, `2 rules`. */
export function count(n: number, name: string): string {
  return `${n} ${name}${n === 1 ? '' : 's'}`
}
