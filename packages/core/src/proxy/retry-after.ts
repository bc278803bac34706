/** `Retry-After` (RFC 9110, 10.2.3). */

/** Milliseconds to wait from `now` (ms since 1970), or `null` for what is neither seconds nor a date. */
export function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  // A day's name first: Date.parse takes far more than an HTTP-date.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return null
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
