/**
 * One record as bytes: `PSTRN1\n`, the length of the head and of the body (4 bytes each, big-endian), the head as JSON,
 * the body, and the SHA-256 of all before it. Whatever differs from that is damaged.
 */
import { createHash } from 'node:crypto'
import type { CacheRecord } from './cache-store.ts'

const MAGIC = Buffer.from('PSTRN1\n')
const LENGTHS = 8
const SUM = 32
const NO_BODY = 0xffff_ffff

export function encodeRecord(record: CacheRecord): Buffer {
  const { body, ...head } = record
  const text = Buffer.from(JSON.stringify(head))
  const lengths = Buffer.alloc(LENGTHS)
  lengths.writeUInt32BE(text.length, 0)
  lengths.writeUInt32BE(body === null ? NO_BODY : body.length, 4)
  const parts = [MAGIC, lengths, text, body ?? Buffer.alloc(0)]
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return Buffer.concat([...parts, hash.digest()])
}

/** `null` for bytes that are not exactly what {@link encodeRecord} gives. */
export function decodeRecord(bytes: Buffer): CacheRecord | null {
  const start = MAGIC.length + LENGTHS
  if (bytes.length < start + SUM || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  const headLength = bytes.readUInt32BE(MAGIC.length)
  const told = bytes.readUInt32BE(MAGIC.length + 4)
  const bodyLength = told === NO_BODY ? 0 : told
  const end = start + headLength + bodyLength
  if (bytes.length !== end + SUM) return null
  const sum = createHash('sha256').update(bytes.subarray(0, end)).digest()
  if (!sum.equals(bytes.subarray(end))) return null
  // The sum holds, so this is what was written.
  const head = JSON.parse(bytes.toString('utf8', start, start + headLength)) as Omit<CacheRecord, 'body'>
  const body = told === NO_BODY ? null : Uint8Array.prototype.slice.call(bytes, start + headLength, end)
  return { ...head, body }
}
