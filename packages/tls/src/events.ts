/** What the store tells its operator. Nothing here holds a key, or bytes that a client sent. */

/** Something that happened; `level` says how urgent it is. */
export interface TlsEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly kind:
    | 'reloaded'
    | 'reload-failed'
    | 'skipped'
    | 'expiring'
    | 'expired'
    | 'ocsp'
    | 'tickets'
    | 'context'
    | 'acme-issued'
    | 'acme-failed'
    | 'acme'
  /** One sentence for a log. */
  readonly message: string
  /** File, label or name that it is about. */
  readonly source?: string
}

/** Takes events. */
export type TlsLog = (event: TlsEvent) => void

/** The default: warnings of the process, so that trouble is never silent. */
export function warnings(event: TlsEvent): void {
  if (event.level !== 'info') process.emitWarning(`${event.message}`, 'PosternTlsWarning')
}
