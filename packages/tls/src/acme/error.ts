/** What an ACME server says is wrong (RFC 8555, 6.7), and what keeps it from being asked. */

/** A failure of one exchange with a server, or of an order. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError'
  /** Last part of the problem's URN, for example `rateLimited`; or `connection`, `timeout`, `protocol`. */
  readonly type: string
  readonly status: number
  /** Milliseconds that the server asks to wait; 0 when it does not say. */
  readonly retryAfter: number

  constructor(type: string, detail: string, status = 0, retryAfter = 0) {
    super(`${type}: ${detail}`)
    this.type = type
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** Text of a server for a log: one line of printable ASCII, cut. */
export function printable(text: unknown): string {
  return String(text ?? '')
    .replace(/[^\x21-\x7e]+/g, ' ')
    .slice(0, 300)
}
