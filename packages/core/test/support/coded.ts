/** Requests whose answers are read as bytes, and what undoes their coding. */
import { type IncomingHttpHeaders, request } from 'node:http'
import * as zlib from 'node:zlib'

/** An answer, byte for byte. */
export interface CodedReply {
  status: number
  headers: IncomingHttpHeaders
  trailers: NodeJS.Dict<string>
  body: Buffer
  /** The connection broke before the body was whole. */
  broken: boolean
}

/** One request over HTTP/1.1 on a connection of its own. */
export function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<CodedReply> {
  return new Promise((resolve, reject) => {
    const req = request({
      port,
      host: '127.0.0.1',
      path,
      method,
      agent: false,
      headers: { Host: 'edge.test', ...headers },
    })
    let headed = false
    req.on('error', error => headed || reject(error))
    req.on('response', res => {
      headed = true
      const chunks: Buffer[] = []
      res.on('data', chunk => chunks.push(chunk))
      res.on('error', () => {})
      res.on('close', () =>
        resolve({
          status: res.statusCode!,
          headers: res.headers,
          trailers: res.trailers,
          body: Buffer.concat(chunks),
          broken: !res.complete,
        }),
      )
    })
    req.end()
  })
}

type Sync = (bytes: Uint8Array) => Buffer
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as Record<string, Sync | undefined>

/** All codings of this Node, each way. */
export const CODERS: Readonly<Record<string, { code: Sync; undo: Sync }>> = {
  gzip: { code: bytes => zlib.gzipSync(bytes), undo: bytes => zlib.gunzipSync(bytes) },
  br: { code: bytes => zlib.brotliCompressSync(bytes), undo: bytes => zlib.brotliDecompressSync(bytes) },
  deflate: { code: bytes => zlib.deflateSync(bytes), undo: bytes => zlib.inflateSync(bytes) },
  ...(zstdCompressSync && { zstd: { code: zstdCompressSync, undo: zstdDecompressSync! } }),
}

/** The body of an answer without its coding. */
export function plain({ headers, body }: { headers: IncomingHttpHeaders; body: Buffer }): string {
  const coding = headers['content-encoding']
  return String(coding === undefined ? body : CODERS[coding]!.undo(body))
}
