/** When to renew, and when to try again. Pure functions of times. */
import { createHash, X509Certificate } from 'node:crypto'
import { derChildren, readDer } from '../der/read.ts'
import { readAuthorityKeyId, readExtensions } from '../x509/extensions.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000
const FIRST_RETRY = 5 * MINUTE
const LONGEST_RETRY = DAY

/** No wait is longer, the random part included. A later time is the work of a clock that was wrong. */
export const LONGEST_WAIT: number = 1.5 * DAY

/** A span of time that a CA suggests for renewal (RFC 9773, 4.2), in ms since 1970. */
export interface RenewalWindow {
  readonly start: number
  readonly end: number
}

/**
 * Time of renewal: at random inside the CA's window; without one when a third of the life is left, up to a twentieth of it
 * earlier, so that certificates of one day do not come back on one day. `share` from 0 to 1 is the same for a certificate
 * each time it is asked.
 */
export function renewalTime(
  { validFrom, validTo }: { validFrom: number; validTo: number },
  window: RenewalWindow | null,
  share: number,
): number {
  if (window) return window.start + (window.end - window.start) * share
  const life = validTo - validFrom
  return validFrom + life * (2 / 3) - life * 0.05 * share
}

/** A number from 0 to 1 that is fixed for a text. */
export function shareOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}

/**
 * Wait after the `failures`-th failure in a row: 5 minutes, doubled each time up to a day, up to a quarter more at random, and
 * never less than the CA asks for. `random` gives 0 to 1.
 */
export function retryDelay(failures: number, retryAfter: number, random: () => number): number {
  const wait = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(20, Math.max(0, failures - 1)))
  return Math.max(retryAfter, wait) * (1 + random() / 4)
}

/**
 * Rest after a certificate was issued, whatever the CA suggests: an hour, doubled up to a day for each renewal in a row that came
 * before its time (`early`), and never more than a tenth of the life. A CA whose windows are always past is so asked once a
 * day, not once a minute.
 */
export function restAfter(early: number, life: number): number {
  return Math.max(0, Math.min(DAY, HOUR * 2 ** Math.min(20, early), life / 10))
}

/** Reads a window. `null` for what is none, or is upside down. */
export function readWindow(body: unknown): RenewalWindow | null {
  const { suggestedWindow } = (body ?? {}) as { suggestedWindow?: { start?: unknown; end?: unknown } }
  const start = Date.parse(String(suggestedWindow?.start))
  const end = Date.parse(String(suggestedWindow?.end))
  return start < end ? { start, end } : null
}

/** When to ask for the window again: as the CA says, from a minute to a day; else after six hours. */
export function windowRecheck(retryAfter: number): number {
  return retryAfter === 0 ? 6 * HOUR : Math.min(DAY, Math.max(MINUTE, retryAfter))
}

/** Names a certificate for renewal information: key identifier of its issuer and serial number (RFC 9773, 4.1). */
export function renewalId(pem: string): string | null {
  const { raw } = new X509Certificate(pem)
  const issuer = readAuthorityKeyId(readExtensions(raw))
  if (issuer === null) return null
  return `${Buffer.from(issuer).toString('base64url')}.${Buffer.from(serialOf(raw)).toString('base64url')}`
}

/** Contents of the DER integer, its sign byte included. */
function serialOf(raw: Uint8Array): Uint8Array {
  const [toBeSigned] = derChildren(readDer(raw))
  const fields = toBeSigned ? derChildren(toBeSigned) : []
  const serial = fields[0]?.tag === 0xa0 ? fields[1] : fields[0]
  if (serial?.tag !== 0x02) throw new RangeError('a certificate has no serial number')
  return serial.contents
}
