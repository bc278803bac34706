/** `Content-Encoding` of request bodies, undone within bounds (RFC 9110, 8.4; RFC 1950-1952, 7932, 8878). */
import * as zlib from 'node:zlib'
import type { Limits } from './options.ts'
import { Refusal } from './refusal.ts'

const PLACE = 'header:content-encoding'
/** Codings on top of one another. */
const MOST_CODINGS = 2
/** A small body may grow to this whatever its ratio. */
const ALWAYS = 1 << 16

interface Inflated {
  buffer: Uint8Array
  /** Tells how many bytes were taken: zlib ends at the end of the coded stream, whatever stands behind it. */
  engine: { bytesWritten: number }
}
type Inflate = (bytes: Uint8Array, most: number, truncated: boolean) => Inflated

const zlibOptions = (maxOutputLength: number, truncated: boolean): zlib.ZlibOptions =>
  ({
    maxOutputLength,
    info: true,
    finishFlush: truncated ? zlib.constants.Z_SYNC_FLUSH : zlib.constants.Z_FINISH,
  }) as zlib.ZlibOptions

const gunzip: Inflate = (bytes, most, truncated) =>
  zlib.gunzipSync(bytes, zlibOptions(most, truncated)) as unknown as Inflated

/** `deflate` means the zlib format; some clients send it bare, and most servers take both. */
const inflateEither: Inflate = (bytes, most, truncated) => {
  const wrapped = bytes.length > 1 && (bytes[0]! & 0x0f) === 8 && ((bytes[0]! << 8) | bytes[1]!) % 31 === 0
  const inflate = wrapped ? zlib.inflateSync : zlib.inflateRawSync
  return inflate(bytes, zlibOptions(most, truncated)) as unknown as Inflated
}

const unbrotli: Inflate = (bytes, maxOutputLength, truncated) =>
  zlib.brotliDecompressSync(bytes, {
    maxOutputLength,
    info: true,
    finishFlush: truncated ? zlib.constants.BROTLI_OPERATION_FLUSH : zlib.constants.BROTLI_OPERATION_FINISH,
  } as zlib.BrotliOptions) as unknown as Inflated

const CODINGS = new Map<string, Inflate>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflateEither],
  ['br', unbrotli],
])

// Node 22.15 and later.
const zstd = (zlib as { zstdDecompressSync?: (bytes: Uint8Array, options: object) => Inflated })
  .zstdDecompressSync
if (zstd !== undefined) {
  CODINGS.set('zstd', (bytes, maxOutputLength, truncated) =>
    zstd(bytes, { maxOutputLength, info: true, ...(truncated ? { finishFlush: 1 } : {}) }),
  )
}

/** Codings that this Node can undo. */
export const codings: readonly string[] = [...CODINGS.keys()]

/**
 * The body without its codings.
 * @throws Refusal for a coding that is not known, for a third one, for bytes that are not so coded, for anything behind
 * the coded bytes, and for a body that grows past `maxInflated` or `maxRatio`.
 */
export function decoded(
  body: Uint8Array,
  values: readonly string[],
  limits: Limits,
  truncated: boolean,
): Uint8Array {
  if (values.length === 0) return body
  const names = values
    .join(',')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '' && name !== 'identity')
  if (names.length > MOST_CODINGS)
    throw new Refusal('coding-stack', PLACE, `more than ${MOST_CODINGS} codings`)
  let bytes = body
  for (const name of names.reverse()) {
    const inflate = CODINGS.get(name)
    if (inflate === undefined) throw new Refusal('coding-unknown', PLACE, 'a coding that is not known here')
    bytes = inflated(inflate, bytes, limits, truncated)
  }
  return bytes
}

function inflated(inflate: Inflate, bytes: Uint8Array, limits: Limits, truncated: boolean): Uint8Array {
  const most = Math.min(limits.maxInflated, Math.max(ALWAYS, bytes.length * limits.maxRatio))
  let result: Inflated
  try {
    result = inflate(bytes, most, truncated)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Refusal('coding-bomb', PLACE, `it grows past ${most} bytes`)
    }
    throw new Refusal('coding-broken', PLACE, 'its bytes are not so coded')
  }
  if (!truncated && result.engine.bytesWritten !== bytes.length) {
    throw new Refusal('coding-trailing', PLACE, 'something behind the coded bytes')
  }
  return result.buffer
}
