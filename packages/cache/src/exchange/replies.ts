/** Small facts of replies and their bodies. */
import { ProxyError, type Reply, type Source } from '@postern/core'
import type { StaleOccasion } from '../policy/stale.ts'

/** Nobody is left to answer. */
export function clientClosed(): ProxyError {
  return new ProxyError({ source: 'client', phase: 'reply-head', code: 'client-closed' })
}

/** A reply that nobody will read must not keep its origin busy. */
export function discard({ body }: Reply): void {
  if (body !== null && 'start' in body)
    body.start({ write: () => true, end() {}, fail() {} }).cancel(clientClosed())
}

/** What an answer says of the origin's health; `null` when all is well. */
export function occasionOf(reply: Reply): StaleOccasion | null {
  if (reply.error) return reply.error.source === 'client' ? null : 'unreachable'
  return [500, 502, 503, 504].includes(reply.status) ? 'error' : null
}

/** A body as a source; not for tunnels. */
export function sourceOf(body: Uint8Array | Source): Source {
  if ('start' in body) return body
  return {
    length: body.length,
    start(sink) {
      if (body.length > 0) sink.write(body)
      sink.end()
      return { pause() {}, resume() {}, cancel() {} }
    },
  }
}
