/** Bytes that are no request, and what else node:http does not give to a listener: refused, in order, and heard by the log. */
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type FailureCode, ProxyError } from '../../errors.ts'
import { connectionOf, wireOf } from './connection1.ts'
import { serveHttp1 } from './http1.ts'
import { lingerOnClose } from './linger.ts'
import type { Serving } from './serving.ts'

const BY_CODE: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'head-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body-too-large',
}

/** Answers a `clientError` of the server: once a connection, and behind what is being answered on it. */
export function refuseBytes(serving: Serving, error: Error & { code?: string }, duplex: Duplex): void {
  const socket = duplex as Socket
  const code = String(error.code)
  if (!socket.writable || !(code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT')) {
    socket.destroy()
    return
  }
  const connection = connectionOf(socket)
  if (code === 'HPE_INVALID_EOF_STATE' && connection.uploading) {
    // The client has left in the middle of its only request.
    socket.destroy()
    return
  }
  // Behind a request that closes the connection nothing counts (RFC 9112, 9.6), nor behind a refusal.
  lingerOnClose(socket)
  if (connection.refused || code === 'HPE_CLOSED_CONNECTION') return
  connection.refused = true
  const named = Object.hasOwn(BY_CODE, code) ? BY_CODE[code]! : 'bad-request'
  const broken = new ProxyError({ source: 'client', phase: 'request-body', code: named, cause: code })
  if (connection.breakBody(broken)) {
    connection.farewell = () => socket.destroySoon()
    return
  }
  refuseAfter(
    serving,
    socket,
    new ProxyError({ source: 'client', phase: 'head', code: named, cause: code }),
    '',
  )
}

/** Answers a head that comes too slowly: 408 once something of it has come, the end of the connection before. */
export function refuseSlowHead(serving: Serving, socket: Socket): void {
  const wire = wireOf(socket)
  if (socket.bytesRead === 0) socket.destroy()
  else if (wire !== null) wire.timedOut()
  else refuseBytes(serving, Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}

/** Answers a CONNECT: this is no forward proxy. */
export function refuseConnect(serving: Serving, duplex: Duplex): void {
  const socket = duplex as Socket
  socket.on('error', () => {})
  if (!socket.writable) {
    socket.destroy()
    return
  }
  connectionOf(socket).refused = true
  const fault = new ProxyError({ source: 'client', phase: 'head', code: 'method-not-allowed' })
  refuseAfter(serving, socket, fault, 'CONNECT')
}

function refuseAfter(serving: Serving, socket: Socket, fault: ProxyError, method: string): void {
  const connection = connectionOf(socket)
  const answer = (): void => refuseNow(serving, socket, fault, method)
  if (connection.busy) connection.farewell = answer
  else answer()
}

/** An exchange without a request: the app hears of it and its reply hooks run, but nothing of the client's bytes is in it. */
function refuseNow(serving: Serving, socket: Socket, fault: ProxyError, method: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const req = new IncomingMessage(socket)
  req.method = method
  req.url = '/'
  req.httpVersion = '1.1'
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  req.complete = true
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  try {
    res.assignSocket(socket)
  } catch {
    // node:http is giving an answer of its own.
    socket.destroy()
    return
  }
  res.on('finish', () => {
    res.detachSocket(socket)
    process.nextTick(() => res.emit('close'))
    socket.destroySoon()
  })
  serveHttp1(serving, req, res, { fault })
}
