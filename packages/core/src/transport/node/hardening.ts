/** What an HTTP/2 client may cost (RFC 9113, 10.5): limits that Node leaves open, and the end of those that break them. */
import { constants, type ServerHttp2Session } from 'node:http2'
import type { Server } from 'node:net'
import { readOptions, type Table, whole } from '../../config/check.ts'
import type { ConfigFault } from '../../errors.ts'
import type { ClientGuard } from '../clients/guard.ts'
import { SessionWatch } from './session-watch.ts'
import { StreamSet } from './stream-set.ts'

/**
 * Limits of HTTP/2 sessions. A session that breaks `resets`, `controlFrames` or the limit on overhead is closed with
 * ENHANCE_YOUR_CALM. Floods of empty frames, unanswered PINGs and CONTINUATION are ended by Node itself.
 */
export interface Http2Limits {
  /** Streams at a time on one session (SETTINGS_MAX_CONCURRENT_STREAMS). More are refused. Default 128. */
  streams?: number
  /**
   * Size of a request's fields, each counted with its name, its value and 32 (SETTINGS_MAX_HEADER_LIST_SIZE). More is
   * answered 431. Default 32 768; HTTP/1.1 has the server's `maxHeaderSize`.
   */
  headerListSize?: number
  /**
   * Streams that a client may cancel or break before they are answered, at once; a sixth of it grows back each second.
   * Each has cost the edge a request, and the client two frames (rapid reset). Default 200.
   */
  resets?: number
  /** PING and SETTINGS frames at once; a sixth of it grows back each second. Default 200. */
  controlFrames?: number
}

/** Limits, complete. */
export type Http2Bounds = Required<Http2Limits>

/** Bytes that frames may take without carrying anything, before anything is carried. */
const FREE_BYTES = 1 << 20
/** How often sessions are looked at, in ms. */
const LOOK = 1000

const RULES: Table<Http2Limits> = {
  streams: whole(1, 1_000_000),
  headerListSize: whole(1024, 1 << 24),
  resets: whole(1, 1_000_000),
  controlFrames: whole(1, 1_000_000),
}

/** Checks the option `http2` of `attach()`. */
export function checkHttp2Limits(given: Http2Limits | undefined, faults: ConfigFault[]): Http2Bounds {
  const limits = readOptions<Http2Limits>('attach.http2', given, RULES, faults)
  return {
    streams: limits.streams ?? 128,
    headerListSize: limits.headerListSize ?? 32_768,
    resets: limits.resets ?? 200,
    controlFrames: limits.controlFrames ?? 200,
  }
}

/**
 * Sets the limits on a server of HTTP/2, and watches its sessions. Others are left alone. `idle`: ms without a request, a PING or
 * SETTINGS after which a session ends, whatever bytes may come.
 */
export function hardenHttp2(server: Server, bounds: Http2Bounds, guard: ClientGuard, idle: number): void {
  if (!('updateSettings' in server)) return
  const http2 = server as unknown as { updateSettings(settings: object): void }
  http2.updateSettings({
    maxConcurrentStreams: bounds.streams,
    maxHeaderListSize: bounds.headerListSize,
    enablePush: false,
  })
  const sessions = new Set<SessionWatch>()
  const { headerRate, grace } = guard.settings
  const look = Math.min(LOOK, Math.ceil(Math.min(idle, grace) / 2))
  let timer: NodeJS.Timeout | null = null
  server.on('session', (session: ServerHttp2Session) => {
    const streams = StreamSet.of(session)
    const resets = new Bucket(bounds.resets)
    const control = new Bucket(bounds.controlFrames)
    streams.headerListSize = bounds.headerListSize
    streams.onCancelled = () => {
      if (!resets.take()) calm(session)
    }
    const watch = new SessionWatch(session, streams, guard.slow, headerRate > 0 ? grace : Infinity, idle)
    const onControl = (): void => {
      watch.heard()
      if (!control.take()) calm(session)
    }
    session.on('ping', onControl)
    session.on('remoteSettings', onControl)
    session.once('remoteSettings', () => watch.begun())
    sessions.add(watch)
    timer ??= setInterval(() => {
      for (const one of sessions) {
        lookAt(one.session)
        one.look()
      }
    }, look).unref()
    session.once('close', () => {
      sessions.delete(watch)
      if (sessions.size > 0 || timer === null) return
      clearInterval(timer)
      timer = null
    })
  })
}

/**
 * Ends a session whose frames carry next to nothing: one-byte or padded DATA, PRIORITY, WINDOW_UPDATE and unknown frames
 * are no single events that could be counted. What streams, bodies and answers need is many times less than is allowed.
 */
function lookAt(session: ServerHttp2Session): void {
  if (session.destroyed) return
  const { bytesRead, bytesWritten } = session.socket
  const { opened, bodyBytes } = StreamSet.of(session)
  if (bytesRead > FREE_BYTES + 4096 * opened + 4 * bodyBytes + bytesWritten / 32) calm(session)
}

function calm(session: ServerHttp2Session): void {
  if (!session.destroyed) session.destroy(constants.NGHTTP2_ENHANCE_YOUR_CALM as unknown as Error)
}

/** Holds so many; a sixth grows back each second. */
class Bucket {
  readonly #size: number
  #left: number
  #at: number = performance.now()

  constructor(size: number) {
    this.#size = size
    this.#left = size
  }

  take(): boolean {
    const now = performance.now()
    this.#left = Math.min(this.#size, this.#left + ((now - this.#at) * this.#size) / 6000) - 1
    this.#at = now
    return this.#left >= 0
  }
}
