/** HTTP/2 to a target: a few sessions with many streams each, a bounded queue in front of them. */
import { ProxyError } from '../../errors.ts'
import { Deadlines } from '../../proxy/deadlines.ts'
import { FAREWELL, TunnelClock } from '../../upgrade/tunnel.ts'
import type { Call, Connector, OutgoingRequest, Receiver, UpstreamTunnel } from '../connector.ts'
import { type CallOwner, Http2Call } from './call.ts'
import type { Http2Options } from './options.ts'
import { Session, type SessionOwner } from './session.ts'

/** An HTTP/2 connector; sessions can be counted, and queued calls taken over by another one. */
export interface Http2Connector extends Connector {
  /** Sessions that are connecting or open. */
  readonly sessions: number
  /** Takes the calls that wait for a session out of the queue. */
  takeQueue(): Http2Call[]
}

/** A pool of HTTP/2 sessions to one target. The bound on sessions is `connections`. */
export function http2Connector(options: Http2Options): Http2Connector {
  return new Pool(options)
}

class Pool implements Http2Connector, SessionOwner, CallOwner {
  readonly expects = true
  readonly scheme: 'http' | 'https'
  readonly head: Deadlines
  readonly idle: Deadlines
  readonly clock: TunnelClock
  readonly #options: Http2Options
  readonly #sessions = new Set<Session>()
  readonly #tunnels = new Set<UpstreamTunnel>()
  #queue: Http2Call[] = []
  #running = 0
  #closed = false
  #onDrained: (() => void) | null = null

  constructor(options: Http2Options) {
    this.#options = options
    this.scheme = options.protocol === 'h2' ? 'https' : 'http'
    this.head = new Deadlines(options.headTimeout)
    this.idle = new Deadlines(options.idleTimeout)
    this.clock = new TunnelClock(options.tunnelIdle)
  }

  get sessions(): number {
    let count = 0
    for (const session of this.#sessions) if (session.state !== 'leaving') count++
    return count
  }

  send(request: OutgoingRequest, receiver: Receiver): Call {
    const call = new Http2Call(request, receiver, this)
    this.#running++
    if (this.#closed) queueMicrotask(() => call.fail(failure('no-upstream')))
    else {
      const session = this.#queue.length === 0 ? this.#withRoom() : null
      if (session) give(call, session)
      else if (this.#queue.length >= this.#capacity()) queueMicrotask(() => call.fail(failure('queue-full')))
      else {
        call.queued = true
        this.#queue.push(call)
        this.#pump()
      }
    }
    return call
  }

  open(request: OutgoingRequest, receiver: Receiver): Call {
    return this.send(request, receiver)
  }

  takeQueue(): Http2Call[] {
    const taken = this.#queue
    this.#queue = []
    for (const call of taken) call.queued = false
    this.#running -= taken.length
    return taken
  }

  connections(): { open: number; idle: number; waiting: number } {
    let idle = 0
    for (const session of this.#sessions) if (session.state === 'open' && session.streams === 0) idle++
    return { open: this.sessions, idle, waiting: this.#queue.length }
  }

  close(): Promise<void> {
    this.#closed = true
    return new Promise(resolve => {
      this.#onDrained = () => {
        for (const session of this.#sessions) session.leave()
        resolve()
      }
      if (this.#running === 0) this.#onDrained()
    })
  }

  async destroy(): Promise<void> {
    this.#closed = true
    const waiting = this.#queue
    this.#queue = []
    for (const call of waiting) call.fail(failure('no-upstream'))
    const end = (): void => {
      for (const session of [...this.#sessions]) session.destroy()
    }
    for (const tunnel of this.#tunnels) tunnel.leave()
    if (this.#tunnels.size === 0) end()
    else setTimeout(end, FAREWELL).unref()
  }

  // Sessions

  onRoom(): void {
    this.#pump()
  }

  onGone(session: Session, error: ProxyError | null): void {
    if (session.state === 'gone') this.#sessions.delete(session)
    // Nobody else can take what waits: all of it hears why.
    if (error && this.sessions === 0) {
      const waiting = this.#queue
      this.#queue = []
      for (const call of waiting) call.fail(again(error))
    } else this.#pump()
  }

  onHttp1(session: Session): void {
    this.#sessions.delete(session)
    this.#options.onHttp1?.()
  }

  // Calls

  onTunnel(tunnel: UpstreamTunnel): void {
    this.#tunnels.add(tunnel)
    tunnel.onClose(() => this.#tunnels.delete(tunnel))
  }

  onOver(call: Http2Call): void {
    if (call.queued) {
      call.queued = false
      const at = this.#queue.indexOf(call)
      if (at >= 0) this.#queue.splice(at, 1)
    }
    if (--this.#running === 0) this.#onDrained?.()
  }

  onUnsent(call: Http2Call): void {
    call.queued = true
    this.#queue.unshift(call)
    // Not at once: the session may be about to say that it takes no more.
    setImmediate(() => this.#pump())
  }

  #pump(): void {
    while (this.#queue.length > 0) {
      const session = this.#withRoom()
      if (!session) return this.#widen()
      const call = this.#queue.shift()!
      call.queued = false
      give(call, session)
    }
  }

  /** The session with the most room. */
  #withRoom(): Session | null {
    let best: Session | null = null
    for (const session of this.#sessions) {
      if (!session.room) continue
      if (best === null || session.streams < best.streams) best = session
    }
    return best
  }

  /** One more session, unless one is on its way. */
  #widen(): void {
    if (this.#closed && this.#running === 0) return
    let count = 0
    for (const session of this.#sessions) {
      if (session.state === 'connecting') return
      if (session.state === 'open') count++
    }
    if (count < this.#options.connections) this.#sessions.add(new Session(this.#options, this))
  }

  /** Calls that may wait: the queue, and as many as the sessions that are not there yet would take. */
  #capacity(): number {
    return this.#options.queue + (this.sessions === 0 ? this.#options.streams : 0)
  }
}

function give(call: Http2Call, session: Session): void {
  if (call.request.upgrade !== undefined && !session.extendedConnect) {
    const message = 'the upstream does not take extended CONNECT'
    const error = new ProxyError({ source: 'upstream', phase: 'connect', code: 'not-implemented', message })
    queueMicrotask(() => call.fail(error))
  } else call.start(session)
}

function failure(code: 'queue-full' | 'no-upstream'): ProxyError {
  return new ProxyError({ source: 'proxy', phase: 'connect', code, retryable: true })
}

/** The same failure for another call: each has its own. */
function again(error: ProxyError): ProxyError {
  const { source, phase, code, retryable, message, cause } = error
  return new ProxyError({ source, phase, code, retryable, message, cause })
}
