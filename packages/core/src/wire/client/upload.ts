/** The body of a request on its way into a connection. */
import type { Socket } from 'node:net'
import type { Own } from '../../body/guard.ts'
import { ProxyError } from '../../errors.ts'
import type { HeaderList } from '../../headers/list.ts'
import type { Flow, Sink, Source } from '../../pipeline/contract.ts'
import type { OutgoingRequest } from '../../upstream/connector.ts'
import { lastChunk, writeChunk } from '../message/chunk-writer.ts'
import { requestTrailers } from './request-head.ts'

/** What a connection hears of its upload. */
export interface UploadOwner {
  /** The target takes no more for now, or takes it again. */
  onBlocked(blocked: boolean): void
  /** All of it has been written. */
  onSent(): void
  /** It can't be sent to its end. */
  onBroken(error: ProxyError): void
}

/** Writes what a source pushes, framed by its length or in chunks. */
export class Upload implements Sink, Own {
  readonly keepsTheRules = true
  /** All of it has been written. */
  sent = false
  begun = false
  readonly #socket: Socket
  readonly #source: Source
  readonly #withheld: OutgoingRequest['decided']
  readonly #owner: UploadOwner
  /** Bytes that are still announced, or -1: in chunks. */
  #left: number
  #flow: Flow | null = null
  #blocked = false
  #over = false

  /** `withheld`: trailers that are not sent. */
  constructor(source: Source, socket: Socket, owner: UploadOwner, withheld: OutgoingRequest['decided']) {
    this.#withheld = withheld
    this.#source = source
    this.#socket = socket
    this.#owner = owner
    this.#left = source.length ?? -1
  }

  start(): void {
    this.begun = true
    this.#flow = this.#source.start(this)
    if (this.#over && !this.sent) this.#flow.cancel(unwanted())
  }

  /** There is room again. */
  drained(): void {
    if (!this.#blocked) return
    this.#blocked = false
    if (this.#over) return
    this.#owner.onBlocked(false)
    this.#flow?.resume()
  }

  cancel(error: ProxyError = unwanted()): void {
    if (this.#over) return
    this.#over = true
    this.#flow?.cancel(error)
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over) return false
    if (this.#left >= 0) {
      this.#left -= bytes.length
      if (this.#left < 0) {
        this.#break()
        return false
      }
    }
    const socket = this.#socket
    const more = this.#left >= 0 ? socket.write(bytes) : writeChunk(socket, bytes)
    if (more || this.#blocked) return more
    this.#blocked = true
    this.#owner.onBlocked(true)
    return false
  }

  end(trailers?: HeaderList): void {
    if (this.#over) return
    if (this.#left > 0) return this.#break()
    if (this.#left < 0) {
      this.#socket.write(lastChunk(trailers ? requestTrailers(trailers.raw, this.#withheld) : null), 'latin1')
    }
    this.#over = this.sent = true
    this.#owner.onSent()
  }

  /** The client's upload broke: it must not look whole. */
  fail(error: ProxyError): void {
    if (this.#over) return
    this.#over = true
    this.#owner.onBroken(error)
  }

  /** Its length is another one than it said. */
  #break(): void {
    const error = new ProxyError({ source: 'proxy', phase: 'request-body', code: 'bad-forward' })
    this.#over = true
    this.#flow?.cancel(error)
    this.#owner.onBroken(error)
  }
}

function unwanted(): ProxyError {
  return new ProxyError({ source: 'upstream', phase: 'request-body', code: 'upstream-reset' })
}
