/** One cookie of a request (RFC 6265, 5.4). */
import type { HeaderList } from '../../headers/list.ts'

/** Value of the first cookie of that name, without quotes; `undefined` when there is none. */
export function readCookie(headers: HeaderList, name: string): string | undefined {
  for (const line of headers.all('cookie')) {
    let from = 0
    while (from < line.length) {
      const semicolon = line.indexOf(';', from)
      const end = semicolon === -1 ? line.length : semicolon
      const equals = line.indexOf('=', from)
      if (equals !== -1 && equals < end && line.slice(from, equals).trim() === name) {
        return line
          .slice(equals + 1, end)
          .trim()
          .replace(/^"(.*)"$/, '$1')
      }
      from = end + 1
    }
  }
  return undefined
}
