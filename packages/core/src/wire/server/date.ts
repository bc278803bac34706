/** The `Date` of answers (RFC 9110, 6.6.1), made once a second. */

let line = ''

function forget(): void {
  line = ''
}

/** The field line with CRLF in front. */
export function dateLine(): string {
  if (line !== '') return line
  const now = new Date()
  line = `\r\nDate: ${now.toUTCString()}`
  // What is kept after the second is over would be a second behind.
  setTimeout(forget, 1000 - now.getMilliseconds()).unref()
  return line
}
