/** Upgrades towards a target of HTTP/1.1: each on a connection of its own, which is never used for anything else. */
import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyError } from '../errors.ts'
import type { Call, OutgoingRequest, Receiver, UpstreamTunnel } from '../upstream/connector.ts'
import { upstreamFailure } from '../upstream/failures.ts'
import { type TunnelClock, tunnelTo } from './tunnel.ts'
import { acceptOf } from './websocket.ts'

/** How tunnels to a target are opened. Milliseconds. */
export interface OpenerOptions {
  /** Connects; `ready` names the event after which the connection may be used. */
  readonly connect: () => { socket: Socket; ready: string }
  readonly connectTimeout: number
  readonly headTimeout: number
  /** Tunnels at a time. */
  readonly tunnels: number
  readonly clock: TunnelClock
}

/** Opens tunnels to one target, and counts them. */
export class Http1Opener {
  readonly #options: OpenerOptions
  readonly #open = new Set<Upgrade>()
  #idle: (() => void) | null = null

  constructor(options: OpenerOptions) {
    this.#options = options
  }

  /** Handshakes and tunnels at the moment. */
  get count(): number {
    return this.#open.size
  }

  open(request: OutgoingRequest, receiver: Receiver): Call {
    if (this.#open.size >= this.#options.tunnels) {
      const full = { source: 'proxy', phase: 'connect', code: 'queue-full', retryable: true } as const
      queueMicrotask(() => receiver.onError(new ProxyError(full)))
      return { resume() {}, cancel() {} }
    }
    const upgrade = new Upgrade(this.#options, request, receiver, () => {
      this.#open.delete(upgrade)
      if (this.#open.size === 0) this.#idle?.()
    })
    this.#open.add(upgrade)
    return upgrade
  }

  /** Settles when there are none. */
  close(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#idle = resolve
    })
  }

  /** Cuts all of them. */
  destroy(): void {
    for (const upgrade of this.#open) upgrade.destroy()
  }
}

class Upgrade implements Call {
  readonly #options: OpenerOptions
  readonly #request: OutgoingRequest
  readonly #receiver: Receiver
  readonly #release: () => void
  readonly #socket: Socket
  #timer: NodeJS.Timeout
  #message: IncomingMessage | null = null
  #tunnel: UpstreamTunnel | null = null
  #over = false
  #sent = false

  constructor(options: OpenerOptions, request: OutgoingRequest, receiver: Receiver, release: () => void) {
    this.#options = options
    this.#request = request
    this.#receiver = receiver
    this.#release = release
    const { socket, ready } = options.connect()
    this.#socket = socket
    this.#timer = setTimeout(() => this.#late('connect-timeout'), options.connectTimeout)
    socket.on('error', error => this.#fail(upstreamFailure(error, this.#sent, 'reply-head')))
    socket.once('close', () => {
      this.#fail(upstreamFailure(new Error('the connection closed'), this.#sent, 'reply-head'))
      this.#release()
    })
    socket.once(ready, () => this.#send())
  }

  resume(): void {
    this.#message?.resume()
  }

  cancel(): void {
    if (this.#over) return
    this.#settle()
    this.#socket.destroy()
  }

  destroy(): void {
    if (this.#tunnel) return this.#tunnel.leave()
    this.#fail(new ProxyError({ source: 'proxy', phase: 'tunnel', code: 'draining' }))
    this.#socket.destroy()
  }

  #send(): void {
    if (this.#over) return
    const { method, target, headers } = this.#request
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#late('head-timeout'), this.#options.headTimeout)
    this.#sent = true
    let sent: ClientRequest
    try {
      sent = sendRequest({
        method,
        path: target,
        headers: asSpelt(headers) as unknown as Record<string, string>,
        setHost: false,
        createConnection: () => this.#socket,
      })
    } catch (cause) {
      this.#fail(new ProxyError({ source: 'proxy', phase: 'connect', code: 'bad-forward', cause }))
      this.#socket.destroy()
      return
    }
    sent.on('information', ({ statusCode, rawHeaders }) => {
      if (!this.#over && statusCode !== 101) this.#receiver.onInterim(statusCode, rawHeaders)
    })
    sent.on('upgrade', (message, socket, first) => this.#switched(message, socket as Socket, first))
    sent.on('response', message => this.#refused(message))
    sent.on('error', error => this.#fail(upstreamFailure(error, true, 'reply-head')))
    sent.end()
  }

  /** 101. Whatever is no proper one is no tunnel either. */
  #switched(message: IncomingMessage, socket: Socket, first: Buffer): void {
    if (this.#over) return
    const { upgrade, headers } = this.#request
    const asked = fieldOf(headers, 'sec-websocket-key')
    const named = message.headers.upgrade?.toLowerCase() === upgrade
    const proven =
      upgrade !== 'websocket' || message.headers['sec-websocket-accept'] === acceptOf(asked ?? '')
    if (!named || !proven || !this.#receiver.onTunnel) {
      this.#fail(new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply' }))
      socket.destroy()
      return
    }
    this.#settle()
    if (first.length > 0) socket.unshift(first)
    this.#tunnel = tunnelTo(socket, upgrade!, this.#options.clock)
    this.#receiver.onTunnel(message.rawHeaders, this.#tunnel)
  }

  /** Any other answer is an answer: it is passed on, and the connection ends with it. */
  #refused(message: IncomingMessage): void {
    if (this.#over) return
    // Without `Upgrade` or `Connection: upgrade` node:http takes it for a final one.
    if (message.statusCode === 101) {
      this.#fail(new ProxyError({ source: 'upstream', phase: 'reply-head', code: 'bad-reply' }))
      this.#socket.destroy()
      return
    }
    clearTimeout(this.#timer)
    this.#message = message
    message.on('data', (bytes: Buffer) => {
      if (!this.#over && !this.#receiver.onData(bytes)) message.pause()
    })
    message.on('end', () => {
      if (this.#over) return
      this.#settle()
      this.#socket.destroy()
      this.#receiver.onEnd(message.rawTrailers)
    })
    message.on('error', error => this.#fail(upstreamFailure(error, true, 'reply-body')))
    this.#receiver.onHead(message.statusCode!, message.rawHeaders)
  }

  #late(code: 'connect-timeout' | 'head-timeout'): void {
    const phase = code === 'connect-timeout' ? 'connect' : 'reply-head'
    this.#fail(new ProxyError({ source: 'upstream', phase, code, retryable: code === 'connect-timeout' }))
    this.#socket.destroy()
  }

  #fail(error: ProxyError): void {
    if (this.#over) return
    this.#settle()
    this.#receiver.onError(error)
  }

  #settle(): void {
    this.#over = true
    clearTimeout(this.#timer)
  }
}

const SPELT: Readonly<Record<string, string>> = {
  'sec-websocket-key': 'Sec-WebSocket-Key',
  'sec-websocket-version': 'Sec-WebSocket-Version',
  'sec-websocket-protocol': 'Sec-WebSocket-Protocol',
  'sec-websocket-extensions': 'Sec-WebSocket-Extensions',
}

/** Names that came in lower case over HTTP/2, as RFC 6455 spells them: some servers compare bytes. */
function asSpelt(headers: readonly string[]): string[] {
  return headers.map((text, at) => (at % 2 === 0 && Object.hasOwn(SPELT, text) ? SPELT[text]! : text))
}

function fieldOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === name) return headers[i + 1]
  return undefined
}
