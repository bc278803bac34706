/** What an answer says of its connection (RFC 9112, 9.3 and 9.6). */
import { sameName } from '../../headers/list.ts'
import { isText } from '../message/bytes.ts'

const COMMA = 0x2c

/** True when a comma-separated list has this lower-case member. */
export function listHas(bytes: Uint8Array, from: number, to: number, member: string): boolean {
  if (isText(bytes, from, to, member)) return true
  let begin = from
  for (let at = from; at <= to; at++) {
    if (at < to && bytes[at] !== COMMA) continue
    let end = at
    while (begin < end && isSpace(bytes[begin]!)) begin++
    while (end > begin && isSpace(bytes[end - 1]!)) end--
    if (isText(bytes, begin, end, member)) return true
    begin = at + 1
  }
  return false
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09
}

/** Seconds of `Keep-Alive: timeout=5`, or -1. */
export function keepAliveOf(headers: readonly string[]): number {
  for (let i = 0; i < headers.length; i += 2) {
    if (!sameName(headers[i]!, 'keep-alive')) continue
    const found = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,6})/i.exec(headers[i + 1]!)
    if (found) return Number(found[1])
  }
  return -1
}
