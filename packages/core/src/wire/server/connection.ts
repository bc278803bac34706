/**
 * One HTTP/1.1 connection on a raw socket: bytes become requests, requests are answered in order.
 *
 * What is read and can't be used yet is held: the beginning of a head, a body that nobody takes, requests beyond those that run
 * at a time, and bytes for Node's parser until the answers in front of them are out.
 */
import type { Socket } from 'node:net'
import { type FailureCode, ProxyError } from '../../errors.ts'
import { judgeHead, makePeer } from '../../headers/head.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Peer, RequestHead } from '../../pipeline/contract.ts'
import { MOST_PIPELINED, WIRE, type WireSide } from '../../transport/node/connection1.ts'
import { lingerOnClose } from '../../transport/node/linger.ts'
import type { Serving } from '../../transport/node/serving.ts'
import { ChunkedDecoder } from '../message/chunked.ts'
import { MORE } from '../message/field-lines.ts'
import { type BodyReader, BROKEN, WireBody } from './body.ts'
import type { Seen } from './clock.ts'
import { CHUNKED, HeadReader, NOT_OURS } from './head.ts'
import { WireLink } from './link.ts'
import { Output } from './output.ts'
import type { WireServer } from './server.ts'

/** Bytes that are held while nothing can be done with them; more wait in the socket. */
const HELD_BYTES = 16_384
const LF = 0x0a

const reader = new HeadReader()

/** What a connection waits for: its first request, the next one, the rest of a head or of a body, or us. */
export type Waiting = 'first' | 'next' | 'head' | 'body' | 'answer'

export class WireConnection implements BodyReader, WireSide {
  readonly peer: Peer
  readonly output: Output
  /** Requests so far. */
  count = 0
  /** What the clock knows of it. */
  readonly seen: Seen = { waiting: 'answer', count: -1, since: 0 }
  readonly #server: WireServer
  readonly #socket: Socket
  /** Exchanges whose answers are not written yet, in order. */
  readonly #links: WireLink[] = []
  /** The body that is being read. */
  #body: WireBody | null = null
  #decoder: ChunkedDecoder | null = null
  #held: Buffer | null = null
  /** The held bytes are the beginning of a head; so many were looked at. */
  #looked = 0
  /** Bytes came behind the newest request. */
  #behind = false
  #reading = false
  #flushing = false
  #paused = false
  /** Node's parser gets what is held. */
  #leaving = false
  /** Nothing more that comes is read as a request. */
  #over = false
  #closed = false
  /** Answered when all in front of it is. */
  #refusal: ProxyError | null = null

  constructor(server: WireServer, socket: Socket) {
    this.#server = server
    this.#socket = socket
    this.peer = makePeer(socket)
    this.output = new Output(socket)
    Object.defineProperty(socket, WIRE, { value: this, configurable: true })
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
  }

  get serving(): Serving {
    return this.#server.serving
  }

  /** Lines that tell the client how long the connection is kept. */
  get keepAlive(): string {
    return this.#server.keepAlive
  }

  /** An exchange runs. */
  get busy(): boolean {
    return this.#links.length > 0 || this.output.unflushed > 0
  }

  get waiting(): Waiting {
    if (this.#body !== null) return 'body'
    if (this.busy || this.#over) return 'answer'
    if (this.#looked > 0) return 'head'
    return this.count === 0 ? 'first' : 'next'
  }

  get heads(): number | 'busy' | null {
    const { waiting } = this
    // What is left of a body behind its answer counts as a head that does not come.
    if (waiting === 'answer' || (waiting === 'body' && this.busy)) return 'busy'
    return this.count === 0 ? null : this.count
  }

  isFirst(link: WireLink): boolean {
    return this.#links[0] === link
  }

  /** No request has come behind this one. */
  isNewest(link: WireLink): boolean {
    return this.#links.at(-1) === link && !this.#behind
  }

  /** The body that is being read was asked for. */
  askForBody(): void {
    this.#links.at(-1)?.askForBody()
  }

  /** The body that is being read can take bytes. */
  readOn(): void {
    if (!this.#reading) this.#settle()
  }

  /** What was put leaves now, or with what else this turn brings. */
  flushSoon(): void {
    if (this.#reading) return
    if (this.#links.length < 2) this.output.flush()
    else if (!this.#flushing) {
      this.#flushing = true
      process.nextTick(this.#flush)
    }
  }

  /** An answer is written: the next one may begin. */
  answered(link: WireLink): void {
    this.#links.shift()
    this.output.finish(link)
    if (link.closing) this.#over = true
    else this.#links[0]?.turn()
    this.flushSoon()
  }

  /** An answer is out. */
  done(link: WireLink): void {
    if (link.closing) return this.close()
    if (this.#body !== null && this.#body === link.body) this.#body.discard()
    if (!this.#reading) this.#settle()
  }

  /** An answer broke: the client must see it. */
  cut(): void {
    if (this.#server.secure) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** A head or a body takes too long. */
  timedOut(): void {
    if (this.#body !== null) this.#breakBody('request-timeout')
    else this.#refuse('request-timeout')
  }

  /** A FIN, and no reset for what may cross it. Answers that are not out will never be. */
  close(): void {
    if (this.#closed) return
    this.#closed = this.#over = true
    this.#held = this.#body = null
    this.#leave()
    lingerOnClose(this.#socket)
    this.#socket.destroySoon()
  }

  readonly #flush = (): void => {
    this.#flushing = false
    this.output.flush()
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#over && this.#body === null) return
    const held = this.#held
    if (held === null) return this.#read(bytes)
    const all = Buffer.concat([held, bytes])
    this.#held = all
    // Looked at again when a line has ended, or much has come: never byte for byte.
    if (this.#looked > 0 && all.length < 2 * this.#looked && !bytes.includes(LF)) return
    this.#looked = 0
    this.#settle()
  }

  readonly #onEnd = (): void => {
    if (this.#closed) return
    if (this.#body !== null) {
      // The client has left in the middle of its only request.
      if (this.#links.length === 1) this.#socket.destroy()
      else this.#breakBody('bad-request')
    } else if (this.#looked > 0) this.#refuse('bad-request')
    else this.#socket.end()
  }

  readonly #onDrain = (): void => {
    this.#links[0]?.drained()
  }

  readonly #onClose = (): void => {
    this.#closed = this.#over = true
    this.#held = null
    this.#server.forget(this)
    this.#leave()
  }

  /** Whoever waits for the client waits in vain. */
  #leave(): void {
    for (const answer of this.output.abandon()) answer.closed()
    for (const link of this.#links.splice(0)) link.closed()
  }

  /** Does what can be done now: reads on, answers a refusal, hands over, closes. */
  #settle(): void {
    if (this.#closed) return
    const held = this.#held
    if (held !== null && this.#looked === 0 && this.#canRead()) {
      this.#held = null
      return this.#read(held)
    }
    if (!this.busy) {
      if (this.#refusal !== null) return this.#answerRefusal(this.#refusal)
      if (this.#over) return this.close()
      if (this.#leaving) return this.#handOver()
    }
    const full = held !== null && this.#looked === 0 && this.#held!.length >= HELD_BYTES
    if (full === this.#paused) return
    this.#paused = full
    if (full) this.#socket.pause()
    else this.#socket.resume()
  }

  #canRead(): boolean {
    if (this.#body !== null) return !this.#body.blocked
    return !this.#over && !this.#leaving && this.#links.length + this.output.unflushed < MOST_PIPELINED
  }

  #read(bytes: Buffer): void {
    this.#reading = true
    let rest: Buffer | null = bytes
    do {
      rest = this.#readAll(rest)
      this.#held = rest
      // What was answered meanwhile leaves in one write, and may make room for more.
      this.output.flush()
    } while (rest !== null && this.#looked === 0 && this.#canRead())
    this.#reading = false
    this.#settle()
  }

  /** Reads as far as it gets; what is left, or `null`. */
  #readAll(bytes: Buffer): Buffer | null {
    const end = bytes.length
    let at = 0
    this.#looked = 0
    while (at < end && this.#canRead()) {
      if (this.#body !== null) at = this.#feed(this.#body, bytes, at, end)
      else {
        const next = reader.read(bytes, at, end)
        const size = (next < 0 ? end : next) - at
        if (next === NOT_OURS || size >= this.#server.maxHeaderSize) this.#leaving = true
        else if (next === MORE) {
          this.#looked = size
          break
        } else {
          at = next
          this.#behind = at < end && !reader.hasBody
          this.#open()
        }
      }
    }
    if (at === end || this.#closed || (this.#over && this.#body === null)) return null
    return at === 0 ? bytes : bytes.subarray(at)
  }

  #feed(body: WireBody, bytes: Buffer, at: number, end: number): number {
    const next = body.feed(bytes, at, end)
    if (next === BROKEN) {
      this.#breakBody('bad-request')
      return end
    }
    if (body.complete && this.#body === body) {
      this.#body = null
      this.#behind = next < end
    }
    return next
  }

  #open(): void {
    const { method, expects } = reader
    const judged = judgeHead(
      {
        method,
        target: reader.target,
        version: '1.1',
        headers: new HeaderList(reader.fields),
        peer: this.peer,
        plain: reader,
      },
      this.serving.app.trusts,
    )
    const body = reader.hasBody ? this.#makeBody(reader.length, expects) : null
    const last = judged.fault !== null || reader.close || this.#server.isLast(++this.count)
    // Behind a refused head nothing is a request.
    this.#over = last
    this.#body = body
    this.#begin(judged.head, body, judged.fault, method === 'HEAD', last)
  }

  #makeBody(length: number, expects: boolean): WireBody {
    const { guard } = this.serving
    if (length !== CHUNKED) return new WireBody(this, length, null, expects, guard)
    this.#decoder ??= new ChunkedDecoder()
    this.#decoder.reset()
    return new WireBody(this, null, this.#decoder, expects, guard)
  }

  #begin(
    head: RequestHead,
    body: WireBody | null,
    fault: ProxyError | null,
    isHead: boolean,
    last: boolean,
  ): void {
    const link = new WireLink(this, isHead, body, last)
    this.#links.push(link)
    link.begin(this.serving.app.open(head, body, link, fault))
  }

  #breakBody(code: FailureCode): void {
    const body = this.#body
    this.#body = this.#held = null
    this.#over = true
    const link = this.#links.at(-1)
    if (link?.body === body) {
      link!.breakBody(new ProxyError({ source: 'client', phase: 'request-body', code }))
    }
    if (!this.#reading) this.#settle()
  }

  #refuse(code: FailureCode): void {
    this.#held = null
    this.#looked = 0
    this.#over = true
    this.#refusal = new ProxyError({ source: 'client', phase: 'head', code })
    this.#settle()
  }

  /** An exchange without a request: the app hears of it, but nothing of the client's bytes is in it. */
  #answerRefusal(fault: ProxyError): void {
    this.#refusal = null
    const { head } = judgeHead(
      { method: '', target: '/', version: '1.1', headers: new HeaderList(), peer: this.peer },
      this.serving.app.trusts,
    )
    this.#begin(head, null, fault, false, true)
  }

  /** Gives the connection to Node's own server, with what is held in front, as if it had just come. */
  #handOver(): void {
    const socket = this.#socket
    this.#closed = true
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('drain', this.#onDrain)
    socket.off('close', this.#onClose)
    socket.off('error', ignore)
    Reflect.deleteProperty(socket, WIRE)
    this.#server.forget(this)
    socket.pause()
    socket.unshift(this.#held!)
    this.#held = null
    this.#server.adopt(socket)
    socket.resume()
  }
}

function ignore(): void {}
