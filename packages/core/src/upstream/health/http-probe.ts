/** A check over HTTP: one request, judged by its status. */
import { ProxyError } from '../../errors.ts'
import type { Connector } from '../connector.ts'
import type { Probe } from './active-check.ts'

/** What a check asks and expects. */
export interface HttpProbeSettings {
  readonly method: 'GET' | 'HEAD'
  /** Origin-form. */
  readonly target: string
  /** `[name, value, …]`, `Host` included. */
  readonly headers: readonly string[]
  readonly expects: (status: number) => boolean
}

/** Asks over a connection of its own: a check must not wait behind traffic, and shows that connecting works. */
export function httpProbe(connector: Connector, settings: HttpProbeSettings): Probe {
  const { method, target, headers, expects } = settings
  return done => {
    const call = connector.send(
      { method, target, headers: [...headers], body: null, fresh: true },
      {
        onInterim() {},
        // The head decides; nobody reads a body, however long.
        onHead(status) {
          done(expects(status))
          queueMicrotask(() => call.cancel(ENOUGH))
        },
        onData: () => true,
        onEnd() {},
        onError: () => done(false),
      },
    )
    return () => call.cancel(ENOUGH)
  }
}

const ENOUGH = new ProxyError({
  source: 'proxy',
  phase: 'reply-body',
  code: 'total-timeout',
  message: 'the check is over',
})
