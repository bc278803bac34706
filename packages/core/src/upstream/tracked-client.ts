/** undici's client, which does not tell on which connection a request goes, and one that does. */
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { ContinueFilter } from './unasked-continue.ts'

/** A handler that wants to know its client. */
export interface TrackedHandler {
  client: TrackedClient | null
}

/** A client of one connection at a time that counts what its present connection has carried. */
export class TrackedClient extends Client {
  /** Requests that went over the present connection. */
  served = 0
  /** What reads the present connection. */
  filter: ContinueFilter | null = null

  constructor(origin: URL, options: Client.Options & { connect: buildConnector.connector }) {
    const { connect } = options
    super(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...[error, socket]) => {
          // One that was opened in advance may have gone stale like one that was used.
          this.served = socket !== null && warmed.has(socket) ? 1 : 0
          this.filter = socket ? new ContinueFilter(socket) : null
          callback(...([error, socket] as [null, typeof socket & object]))
        }),
    })
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const tracked = handler as unknown as TrackedHandler
    tracked.client = this
    return super.dispatch(options, handler)
  }
}

/** Connections that were opened before anybody wanted them. */
export const warmed: WeakSet<object> = new WeakSet()
