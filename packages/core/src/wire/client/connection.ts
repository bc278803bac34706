/**
 * One connection to a target: a request at a time.
 *
 *   1. it connects, for a request or in advance
 *   2. the head goes out, with what there is of the body in the same write
 *   3. what comes back is parsed where it lies and told to the receiver
 *   4. with the end of the answer it is free again, or closed: nothing is used that is not plainly between two messages
 */
import type { Socket } from 'node:net'
import { ProxyError } from '../../errors.ts'
import { readOnAfterBrokenWrite } from '../../upstream/broken-write.ts'
import { staleSocket, upstreamFailure } from '../../upstream/failures.ts'
import type { BufferReader, BytesTaker } from './buffer-reader.ts'
import type { WireCall } from './call.ts'
import type { ConnectionOwner } from './owner.ts'
import { DATA, END, HEAD, INTERIM, MORE, ResponseParser } from './response-parser.ts'
import { Upload, type UploadOwner } from './upload.ts'

/** Nothing more is to be made of what was read. */
const STOP = 0

/** What is waited for. */
type Wait = 'nothing' | 'connect' | 'continue' | 'head' | 'body' | 'upload' | 'use'

/** A connection, from the moment it is opened. */
export class WireConnection implements UploadOwner, BytesTaker {
  readonly socket: Socket
  /** Connected, and fit for use. */
  ready = false
  gone = false
  /** The step in which its time is up; 0 for never. */
  due = 0
  readonly #owner: ConnectionOwner
  readonly #parser: ResponseParser = new ResponseParser()
  #call: WireCall | null = null
  #upload: Upload | null = null
  #wait: Wait = 'nothing'
  /** Has carried a request, or could have. */
  #used = false
  /** It had been used before the request that is under way. */
  #reused = false
  /** A byte of the answer has come, and its head. */
  #heard = false
  #headed = false
  #paused = false
  /** Bytes that came before the pause. */
  #rest: Buffer | null = null
  #refed = true

  /** `ready`: the event after which the socket may be used. `reader`: what reads it; `null` for 'data' events. */
  constructor(
    owner: ConnectionOwner,
    socket: Socket,
    ready: 'connect' | 'secureConnect',
    reader: BufferReader | null,
  ) {
    this.#owner = owner
    this.socket = socket
    this.#await('connect', owner.times.connect)
    socket.once(ready, () => this.#connected())
    if (reader !== null) reader.taker = this
    else socket.on('data', (bytes: Buffer) => this.onRead(bytes, bytes.length, true))
    socket.on('drain', () => this.#upload?.drained())
    socket.on('end', () => this.#ended())
    socket.on('error', error => this.#lost(error))
    socket.on('close', () => {
      this.#lost(new Error('the connection closed'))
      owner.onClosed(this)
    })
  }

  /** Nothing has happened to it that would forbid a request. */
  get usable(): boolean {
    return !this.gone && this.socket.writable && this.socket.readable
  }

  // 1
  /** Sends the request over it: now, or once it is connected. */
  carry(call: WireCall): void {
    this.#call = call
    call.connection = this
    if (this.ready) this.#send(call)
  }

  #connected(): void {
    if (this.gone) return
    this.ready = true
    if (this.#call !== null) this.#send(this.#call)
    else {
      this.#used = true
      this.#await('use', this.#owner.times.keepAlive)
      this.#owner.onReady(this)
    }
  }

  // 2
  #send(call: WireCall): void {
    const { socket } = this
    const { request, head } = call
    if (!this.#refed) {
      socket.ref()
      this.#refed = true
    }
    this.#reused = this.#used
    this.#used = true
    this.#heard = this.#headed = false
    this.#parser.begin(request.method)
    const { body } = request
    if (body === null) {
      this.#await('head', this.#owner.times.head)
      socket.write(head.text, 'latin1')
      return
    }
    this.#await('nothing', 0)
    this.#upload = new Upload(body, socket, this, request.decided)
    readOnAfterBrokenWrite(socket)
    if (head.expects) {
      socket.write(head.text, 'latin1')
      this.#await('continue', this.#owner.times.continue)
      return
    }
    // What the source gives at once, or in this turn, leaves together with the head.
    socket.cork()
    socket.write(head.text, 'latin1')
    this.#upload.start()
    process.nextTick(uncork, socket)
  }

  onBlocked(blocked: boolean): void {
    if (this.#headed) return
    if (blocked) this.#await('upload', this.#owner.times.idle)
    else this.#await('nothing', 0)
  }

  onSent(): void {
    if (!this.#headed) this.#await('head', this.#owner.times.head)
  }

  onBroken(error: ProxyError): void {
    this.#fail(error)
  }

  #continue(): void {
    const upload = this.#upload
    if (upload === null || upload.begun) return
    this.#await('nothing', 0)
    upload.start()
  }

  // 3
  get expected(): number {
    return this.#call === null ? 0 : this.#parser.expected
  }

  onRead(bytes: Buffer, to: number, own: boolean): void {
    const call = this.#call
    // Bytes that nobody asked for: what follows them could not be told from an answer.
    if (call === null || !this.ready) return this.close()
    this.#heard = true
    const parser = this.#parser
    const { receiver } = call
    let what = parser.next(bytes, 0, to)
    for (;;) {
      if (what === DATA) {
        what = this.#data(call, bytes, to, own)
        if (what === STOP) return
        continue
      }
      if (what === HEAD) {
        this.#headed = true
        if (this.#wait === 'continue') this.#await('nothing', 0)
        receiver.onHead(parser.status, parser.headers, parser.ended)
      } else if (what === INTERIM) {
        if (parser.status === 100) this.#continue()
        receiver.onInterim(parser.status, parser.headers)
      } else if (what === END) return this.#finish(call, parser.at === to)
      else if (what === MORE) {
        if (this.#headed) this.#await('body', this.#owner.times.idle)
        return
      } else return this.#fail(this.#failure('bad-reply'))
      if (this.#call !== call) return
      what = parser.next(bytes, parser.at, to)
    }
  }

  /** Hands data on. What comes next, or {@link STOP}. */
  #data(call: WireCall, bytes: Buffer, to: number, own: boolean): number {
    const parser = this.#parser
    if (!own && parser.chunked) return this.#gather(call, bytes, to)
    const data = bytes.subarray(parser.dataFrom, parser.dataTo)
    const more = call.receiver.onData(own ? data : copyOf(data))
    if (this.#call !== call) return STOP
    // An end needs no room.
    if (more || parser.bodyIsWhole) return parser.next(bytes, parser.at, to)
    const rest = bytes.subarray(parser.at, to)
    this.#pause(rest.length === 0 ? null : own ? rest : copyOf(rest))
    return STOP
  }

  /** The data of all chunks of one read at once: it has to be copied anyway. */
  #gather(call: WireCall, bytes: Buffer, to: number): number {
    const parser = this.#parser
    const data = Buffer.allocUnsafe(to - parser.dataFrom)
    let length = 0
    let what: number
    do {
      length += bytes.copy(data, length, parser.dataFrom, parser.dataTo)
      what = parser.next(bytes, parser.at, to)
    } while (what === DATA)
    const more = call.receiver.onData(data.subarray(0, length))
    if (this.#call !== call) return STOP
    if (more || what !== MORE) return what
    this.#pause(null)
    return STOP
  }

  #pause(rest: Buffer | null): void {
    this.#paused = true
    this.#rest = rest
    this.#await('nothing', 0)
    this.socket.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    const rest = this.#rest
    this.#rest = null
    if (rest !== null) this.onRead(rest, rest.length, true)
    else this.#await('body', this.#owner.times.idle)
    // Also when the rest held the answer's end: the next one is read from the same socket.
    if (!this.#paused && !this.gone) this.socket.resume()
  }

  /** The server sends no more. */
  #ended(): void {
    const call = this.#call
    if (call !== null && this.#parser.close() === END) this.#finish(call, false)
    else this.#lost(new Error('the upstream closed the connection'))
  }

  // 4
  #finish(call: WireCall, clean: boolean): void {
    const upload = this.#upload
    const parser = this.#parser
    const sent = upload === null || upload.sent
    // Once it is free, the next answer's take their place.
    const { trailers } = parser
    this.#leave(call)
    // Whatever is behind the answer, or still to be written, belongs to no other request.
    const free =
      clean && sent && parser.persistent && this.#keepAlive() > 0 && this.socket.writableLength === 0
    if (!sent) upload!.cancel()
    if (free) {
      this.#await('use', this.#keepAlive())
      this.#owner.onFree(this)
    } else this.close()
    this.#owner.onLeft()
    call.receiver.onEnd(trailers)
  }

  /** Steps for which it is kept: sooner than the server closes it, where that one says when. */
  #keepAlive(): number {
    const { times, ticks } = this.#owner
    const { keepAlive } = this.#parser
    if (keepAlive < 0) return times.keepAlive
    return keepAlive === 0 ? 0 : Math.min(times.keepAlive, ticks.of(Math.max(keepAlive - 1, 0.5) * 1000))
  }

  /** The request is given up: what comes back would be nobody's. */
  abandon(error: ProxyError): void {
    const call = this.#call
    if (call === null) return
    const upload = this.#upload
    this.#leave(call)
    upload?.cancel(error)
    // One that is not connected yet serves somebody else.
    if (this.ready) this.close()
    else if (!this.gone) {
      this.#await('connect', this.#owner.times.connect)
      this.#owner.onReady(this)
    }
    this.#owner.onLeft()
  }

  /** Fails what runs, and closes it. */
  destroy(cause: Error): void {
    if (this.#call === null) this.close()
    else this.#fail(upstreamFailure(cause, this.ready, this.#phase))
  }

  /** Closes it; nothing that it still tells is heard. */
  close(): void {
    if (this.gone) return
    this.gone = true
    this.ready = false
    this.due = 0
    this.socket.destroy()
    this.#owner.onGone(this)
  }

  #lost(cause: Error): void {
    if (this.gone) return
    if (this.#call === null) return this.close()
    const failure = upstreamFailure(cause, this.ready, this.#phase)
    const stale = this.#reused && !this.#heard && failure.code === 'upstream-reset'
    this.#fail(stale ? staleSocket(cause) : failure)
  }

  #fail(error: ProxyError): void {
    const call = this.#call
    const upload = this.#upload
    if (call === null) return this.close()
    this.#leave(call)
    upload?.cancel(error)
    this.close()
    this.#owner.onLeft()
    call.receiver.onError(error)
  }

  #leave(call: WireCall): void {
    call.connection = null
    call.over = true
    this.#call = null
    this.#upload = null
    this.#rest = null
    this.due = 0
    if (!this.#paused) return
    this.#paused = false
    if (!this.gone) this.socket.resume()
  }

  get #phase(): 'reply-head' | 'reply-body' {
    return this.#headed ? 'reply-body' : 'reply-head'
  }

  #failure(code: 'bad-reply' | 'head-timeout' | 'idle-timeout' | 'connect-timeout'): ProxyError {
    const retryable = code === 'connect-timeout'
    const phase = retryable ? 'connect' : this.#wait === 'upload' ? 'request-body' : this.#phase
    return new ProxyError({ source: 'upstream', phase, code, retryable })
  }

  #await(wait: Wait, steps: number): void {
    this.#wait = wait
    this.due = wait === 'nothing' ? 0 : this.#owner.ticks.now + steps
  }

  /** Its time is up. */
  onDue(): void {
    this.due = 0
    switch (this.#wait) {
      case 'connect':
        return this.#fail(this.#failure('connect-timeout'))
      case 'continue':
        return this.#continue()
      case 'head':
        return this.#fail(this.#failure('head-timeout'))
      case 'body':
      case 'upload':
        return this.#fail(this.#failure('idle-timeout'))
      case 'use':
        return this.close()
    }
  }

  /** Nobody uses it now: the process need not live on for it. */
  unref(): void {
    if (!this.#refed || this.#call !== null) return
    this.#refed = false
    this.socket.unref()
  }
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafe(bytes.length)
  copy.set(bytes)
  return copy
}

function uncork(socket: Socket): void {
  socket.uncork()
}
