/** HTTP dates (RFC 9110, 5.6.7): the three formats that a recipient has to read, and nothing that only looks like one. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH = `(${MONTHS.join('|')})`
const SHORT_DAY = '(?:mon|tue|wed|thu|fri|sat|sun)'
const LONG_DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day'
const TIME = '(\\d\\d):(\\d\\d):(\\d\\d)'

// Names are case-sensitive in the grammar; reading them in any case is harmless and common.
const IMF = new RegExp(`^${SHORT_DAY}, (\\d\\d) ${MONTH} (\\d{4}) ${TIME} gmt$`, 'i')
const RFC850 = new RegExp(`^${LONG_DAY}, (\\d\\d)-${MONTH}-(\\d\\d) ${TIME} gmt$`, 'i')
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`, 'i')

/**
 * Milliseconds since 1970 of an HTTP date, or `null` when it is none.
 * @param now for the century of two-digit years: more than 50 years ahead means the past.
 */
export function parseHttpDate(text: string, now: number = Date.now()): number | null {
  let match = IMF.exec(text)
  if (match) return build(match[3]!, match[2]!, match[1]!, match[4]!, match[5]!, match[6]!)
  match = ASCTIME.exec(text)
  if (match) return build(match[6]!, match[1]!, match[2]!, match[3]!, match[4]!, match[5]!)
  match = RFC850.exec(text)
  if (match) {
    const thisYear = new Date(now).getUTCFullYear()
    let year = Math.floor(thisYear / 100) * 100 + Number(match[3])
    if (year > thisYear + 50) year -= 100
    return build(String(year), match[2]!, match[1]!, match[4]!, match[5]!, match[6]!)
  }
  return null
}

function build(year: string, month: string, day: string, h: string, m: string, s: string): number | null {
  const at = MONTHS.indexOf(month.toLowerCase())
  const [d, hours, minutes, seconds] = [Number(day), Number(h), Number(m), Number(s)]
  // 60 is a leap second.
  if (hours > 23 || minutes > 59 || seconds > 60) return null
  const midnight = Date.UTC(Number(year), at, d)
  const date = new Date(midnight)
  if (date.getUTCMonth() !== at || date.getUTCDate() !== d) return null
  return midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000
}
