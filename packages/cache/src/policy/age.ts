/** Age of a response (RFC 9111, 4.2.3). */
import type { HeaderList } from '@postern/core'
import { seconds } from './directives.ts'

/** Seconds in `Age`: the first member of the first line; 0 when there is none or it is no number (RFC 9111, 5.1). */
export function ageValue(headers: HeaderList): number {
  const first = headers.get('age')
  if (first === undefined) return 0
  return seconds(first.split(',')[0]!.trim()) ?? 0
}

/** Age at the time of receipt, in milliseconds. Times are milliseconds since 1970. */
export function initialAge(
  age: number,
  date: number | null,
  requestTime: number,
  responseTime: number,
): number {
  const apparent = date === null ? 0 : Math.max(0, responseTime - date)
  // `Date` has whole seconds: less than one is no age.
  return Math.max(apparent < 1000 ? 0 : apparent, age * 1000 + Math.max(0, responseTime - requestTime))
}
