/** What goes out on a connection: small texts are gathered and leave in one write; whoever wrote last is told when all is out. */
import type { Socket } from 'node:net'

/** Gathered text above this leaves at once. */
const MOST_TEXT = 65_536
/** Bytes that may wait for one client before its answer pauses. */
const MOST_WAITING = 65_536
const NOTHING = Buffer.alloc(0)

/** An answer whose last byte has been given to the output. */
export interface Finished {
  /** The system has taken all of it. */
  flushed(): void
  /** It is still not taken: see that it will be. */
  watch(): void
  /** The connection is gone. */
  closed(): void
}

/** The writing side of one connection. */
export class Output {
  readonly #socket: Socket
  /** TLS tells by a callback alone when something has been written. */
  readonly #tells: boolean
  #text = ''
  #finished: Finished[] = []
  /** Of those, how many wait for a callback. */
  #marked = 0
  readonly #marks: number[] = []

  constructor(socket: Socket) {
    this.#socket = socket
    this.#tells = 'encrypted' in socket
  }

  /** Answers that have been given, and not all taken. */
  get unflushed(): number {
    return this.#finished.length
  }

  /** Looks whether the client takes what waits. */
  watch(): void {
    this.#finished[0]?.watch()
  }

  /** Bytes that wait for the client. */
  get waiting(): number {
    return this.#socket.writableLength + this.#text.length
  }

  /**
   * Too much waits: pause until the socket drains. Only a socket that owes a 'drain' counts. Text that is still gathered does
   * not: when the system takes it at once, nobody is told.
   */
  get full(): boolean {
    return this.#socket.writableNeedDrain && this.waiting >= MOST_WAITING
  }

  /** Adds text of one character a byte; it leaves with the next `flush`, or what is sent before that. */
  put(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text
    if (this.#text.length > MOST_TEXT) this.flush()
  }

  /** Writes bytes behind what was put. False: pause until the socket drains. */
  send(bytes: Uint8Array): boolean {
    const socket = this.#socket
    if (this.#text === '') return socket.write(bytes)
    socket.cork()
    socket.write(this.#take(), 'latin1')
    const more = socket.write(bytes)
    socket.uncork()
    return more
  }

  /** The answer's last byte was put or sent. `flush` follows. */
  finish(answer: Finished): void {
    this.#finished.push(answer)
  }

  /** Writes what was put. False: pause until the socket drains. */
  flush(): boolean {
    const socket = this.#socket
    const due = this.#finished.length - this.#marked
    if (this.#text === '' && due === 0) return true
    if (this.#tells && due > 0) {
      this.#mark(due)
      return this.#text === ''
        ? socket.write(NOTHING, this.#written)
        : socket.write(this.#take(), 'latin1', this.#written)
    }
    const more = this.#text === '' || socket.write(this.#take(), 'latin1')
    if (due === 0) return more
    if (socket.writableLength === 0) this.#tellAll()
    else {
      this.#mark(due)
      socket.write(NOTHING, this.#written)
    }
    return more
  }

  /** The connection is gone: gives those that will never be told. */
  abandon(): Finished[] {
    const left = this.#finished
    this.#finished = []
    this.#marks.length = this.#marked = 0
    this.#text = ''
    return left
  }

  #take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  #mark(due: number): void {
    this.#marks.push(due)
    this.#marked += due
  }

  /** One function a connection: writes are taken in order, so each knows how many answers end with it. */
  readonly #written = (error?: Error | null): void => {
    const count = this.#marks.shift() ?? 0
    if (error) return
    this.#marked -= count
    for (let i = 0; i < count; i++) this.#finished.shift()?.flushed()
  }

  #tellAll(): void {
    // Callbacks that are still due have nobody to tell any more.
    this.#marks.fill(0)
    this.#marked = 0
    while (this.#finished.length > 0) this.#finished.shift()!.flushed()
  }
}
