/** Bytes that are no request: a short answer where one is possible, and the connection ends. */
import type { Duplex } from 'node:stream'

const BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
}

/** Listener of a server's `clientError`. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  const busy = (socket as Duplex & { _httpMessage?: { headersSent?: boolean } | null })._httpMessage
  // In the middle of another answer, a second status line would be read as its body.
  if (!socket.writable || error.code === 'ECONNRESET' || busy?.headersSent) {
    socket.destroy()
    return
  }
  const status = BY_CODE[error.code ?? ''] ?? '400 Bad Request'
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
