/** The content codings that this Node can undo and make (RFC 9110, 8.4.1; RFC 1950-1952, 7932, 8878). */
import * as zlib from 'node:zlib'
import type { HeaderList } from '../../headers/list.ts'

/** A content coding, by its registered name. */
export type Coding = 'br' | 'zstd' | 'gzip' | 'deflate'

/** A stream of node:zlib. */
export interface Engine extends zlib.BrotliCompress {
  /** Bytes that were taken. Those behind the end of the coded stream are not. */
  readonly bytesWritten: number
}

/** How each coding is made, 1 for quickest; what is higher takes more time than a proxy has. */
export type Levels = Readonly<Record<Coding, number>>

/** Quick ones: within a few per cent of the usual levels for text, in a fraction of their time. */
export const LEVELS: Levels = { br: 4, zstd: 3, gzip: 5, deflate: 5 }
/** Highest level of each. */
export const HIGHEST: Levels = { br: 11, zstd: 22, gzip: 9, deflate: 9 }

/** What node:zlib has from 22.15 on; the types are those of Node 20. */
interface Zstd {
  createZstdCompress?: (options: object) => Engine
  createZstdDecompress?: (options: object) => Engine
}
const { createZstdCompress, createZstdDecompress } = zlib as unknown as Zstd
/** `ZSTD_c_compressionLevel`, `ZSTD_c_windowLog`, `ZSTD_d_windowLogMax`, and the window that RFC 9659 allows. */
const ZSTD = { level: 100, window: 101, windowMost: 100, windowLog: 23 }
/** A window of 256 KB: it bounds the memory of a stream, and pages are seldom larger. */
const BROTLI_WINDOW = 18

/** True when this Node knows Zstandard. */
export const hasZstd: boolean = createZstdCompress !== undefined && createZstdDecompress !== undefined

/** What there is here, in the order in which it is preferred. */
export const CODINGS: readonly Coding[] = hasZstd
  ? ['br', 'zstd', 'gzip', 'deflate']
  : ['br', 'gzip', 'deflate']

/** The coding of this name, in any case; `null` for what is not known here. */
export function codingOf(name: string): Coding | null {
  const lower = name.toLowerCase()
  if (lower === 'x-gzip') return 'gzip'
  return CODINGS.find(known => known === lower) ?? null
}

/** Codings on top of one another that are undone. */
const MOST_CODINGS = 3

/** The codings of a message in the order in which they were put on; `null` when one is not known, or when they are too many. */
export function codingsOf(headers: HeaderList): readonly Coding[] | null {
  const value = headers.joined('content-encoding')
  if (value === undefined) return NONE
  const codings: Coding[] = []
  for (const part of value.split(',')) {
    const name = part.trim()
    if (name === '' || name.toLowerCase() === 'identity') continue
    const coding = codingOf(name)
    if (coding === null || codings.length === MOST_CODINGS) return null
    codings.push(coding)
  }
  return codings
}

const NONE: readonly Coding[] = []

/** A stream that makes a coding. */
export function encoder(coding: Coding, level: number): Engine {
  if (coding === 'br') {
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants
    return zlib.createBrotliCompress({
      params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_LGWIN]: BROTLI_WINDOW },
    }) as Engine
  }
  if (coding === 'gzip') return zlib.createGzip({ level }) as unknown as Engine
  // `deflate` is the zlib format (RFC 9110, 8.4.1.2), not the bare one.
  if (coding === 'deflate') return zlib.createDeflate({ level }) as unknown as Engine
  return createZstdCompress!({ params: { [ZSTD.level]: level, [ZSTD.window]: BROTLI_WINDOW } })
}

/** The flush that lets a reader decode all that was written so far. */
export function flushOf(coding: Coding): number | undefined {
  return coding === 'gzip' || coding === 'deflate' ? zlib.constants.Z_SYNC_FLUSH : undefined
}

/** A stream that undoes a coding. `first` holds at least two bytes, or all there are. */
export function decoder(coding: Coding, first: Uint8Array): Engine {
  if (coding === 'br') return zlib.createBrotliDecompress() as Engine
  if (coding === 'gzip') return zlib.createGunzip() as unknown as Engine
  if (coding === 'zstd') return createZstdDecompress!({ params: { [ZSTD.windowMost]: ZSTD.windowLog } })
  // Some servers send the bare format; a header of zlib tells (RFC 1950, 2.2).
  const wrapped = first.length > 1 && (first[0]! & 0x0f) === 8 && ((first[0]! << 8) | first[1]!) % 31 === 0
  return (wrapped ? zlib.createInflate() : zlib.createInflateRaw()) as unknown as Engine
}
