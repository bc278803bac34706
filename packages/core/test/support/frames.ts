/** HTTP/2 by hand (RFC 9113, 4): servers and clients that say exactly what they are told, right or wrong. */
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { rawOrigin } from './servers.ts'

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9

export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** One frame. */
export interface Frame {
  type: number
  flags: number
  stream: number
  payload: Buffer
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Fields as literals without indexing and without Huffman coding (RFC 7541, 6.2.2). Short ones only. */
export function block(fields: readonly (readonly [string, string])[]): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of fields) {
    parts.push(Buffer.from([0]), text(name), text(value))
  }
  return Buffer.concat(parts)
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const rest: number[] = []
  let left = bytes.length - 127
  for (; left >= 128; left >>= 7) rest.push((left & 127) | 128)
  return Buffer.concat([Buffer.from([127, ...rest, left]), bytes])
}

/** HEADERS of an answer. */
export function answer(
  stream: number,
  status: number,
  fields: readonly (readonly [string, string])[] = [],
  flags: number = END_HEADERS,
): Buffer {
  return frame(HEADERS, flags, stream, block([[':status', String(status)], ...fields]))
}

/** HEADERS of a request. */
export function ask(
  stream: number,
  fields: readonly (readonly [string, string])[] = [],
  flags: number = END_HEADERS | END_STREAM,
): Buffer {
  const pseudo = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'edge.test'],
    [':path', '/'],
  ] as const
  return frame(HEADERS, flags, stream, block([...pseudo, ...fields]))
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => {
    bytes.writeUInt32BE(value >>> 0, 4 * at)
  })
  return bytes
}

export const rst = (stream: number, code: number): Buffer => frame(RST_STREAM, 0, stream, u32(code))
export const goaway = (last: number, code = 0): Buffer => frame(GOAWAY, 0, 0, u32(last, code))

/** One setting. */
export function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(id, 0)
  bytes.writeUInt32BE(value, 2)
  return bytes
}

/** Calls back for each frame of a byte stream. */
export function frameReader(onFrame: (frame: Frame) => void, skip = 0): (bytes: Buffer) => void {
  let held = Buffer.alloc(0)
  let toSkip = skip
  return bytes => {
    held = Buffer.concat([held, bytes])
    if (toSkip > 0) {
      const now = Math.min(toSkip, held.length)
      toSkip -= now
      held = held.subarray(now)
    }
    while (toSkip === 0 && held.length >= 9) {
      const length = held.readUIntBE(0, 3)
      if (held.length < 9 + length) return
      onFrame({
        type: held[3]!,
        flags: held[4]!,
        stream: held.readUInt32BE(5) & 0x7fffffff,
        payload: Buffer.from(held.subarray(9, 9 + length)),
      })
      held = held.subarray(9 + length)
    }
  }
}

/** An h2c origin that answers frames with bytes. It says SETTINGS and acknowledges the client's by itself. */
export async function frameOrigin(
  onFrame: (frame: Frame, socket: Socket, connection: number) => void,
  settings: Buffer = Buffer.alloc(0),
): Promise<{ url: string; frames: Frame[]; connections: () => number; sockets: Set<Socket> }> {
  const frames: Frame[] = []
  let connections = 0
  const up = await rawOrigin(socket => {
    const connection = ++connections
    socket.write(frame(SETTINGS, 0, 0, settings))
    const read = frameReader(one => {
      frames.push(one)
      if (one.type === SETTINGS && !(one.flags & ACK)) socket.write(frame(SETTINGS, ACK, 0))
      onFrame(one, socket, connection)
    }, PREFACE.length)
    socket.on('data', read)
  })
  return { url: up.url, frames, connections: () => connections, sockets: up.sockets }
}

/** A client of frames on an h2c edge. */
export function frameClient(
  port: number,
  settings: Buffer = Buffer.alloc(0),
): { socket: Socket; frames: Frame[]; closed: () => boolean; send: (...frames: Buffer[]) => void } {
  const socket = connect(port, '127.0.0.1')
  const frames: Frame[] = []
  let closed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  socket.on(
    'data',
    frameReader(one => {
      frames.push(one)
      if (one.type === SETTINGS && !(one.flags & ACK)) socket.write(frame(SETTINGS, ACK, 0))
    }),
  )
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, settings)]))
  onTestFinished(() => {
    socket.destroy()
  })
  return { socket, frames, closed: () => closed, send: (...sent) => void socket.write(Buffer.concat(sent)) }
}
