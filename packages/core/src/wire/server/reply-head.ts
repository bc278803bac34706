/** Heads of answers as text: checked, with what belongs to the connection written anew (RFC 9112, 4; RFC 9110, 7.6.1). */
import { STATUS_CODES } from 'node:http'
import { type HeaderList, isFieldName, isFieldValue } from '../../headers/list.ts'
import { isHopField } from '../../headers/names.ts'
import type { PreparedLines } from '../../headers/prepared.ts'
import { saysClose } from '../../transport/node/fields1.ts'
import { dateLine } from './date.ts'

/** The answer has no body, whatever its fields say: to `HEAD`, 204 and 304. */
export const NO_BODY = -1
/** The body is pushed; its length is what the fields say. */
export const PUSHED = -2

const PLAIN = 0
const HOP = 1
const CONNECTION = 2
const UPGRADE = 3
const LENGTH = 4
const DATE = 5
const ILLEGAL = 6

interface Name {
  readonly kind: number
  /** CRLF, the name, colon and space. */
  readonly begin: string
}

const REMEMBERED = 2048
const names = new Map<string, Name>()

function nameOf(text: string): Name {
  const known = names.get(text)
  if (known !== undefined) return known
  const made = { kind: kindOf(text), begin: `\r\n${text}: ` }
  if (names.size < REMEMBERED) names.set(text, made)
  return made
}

function kindOf(text: unknown): number {
  if (typeof text !== 'string' || !isFieldName(text)) return ILLEGAL
  const lower = text.toLowerCase()
  if (lower === 'connection') return CONNECTION
  if (lower === 'upgrade') return UPGRADE
  if (lower === 'content-length') return LENGTH
  if (lower === 'date') return DATE
  return isHopField(text) ? HOP : PLAIN
}

const statusLines: string[] = []

function statusLine(status: number): string {
  return (statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}`)
}

/** Makes heads, one after the other; what it says holds until the next one. */
export class ReplyHeadWriter {
  /** The head, with its empty line. */
  text = ''
  /** It says `Connection: close`. */
  closing = false
  /** The body is sent chunked. */
  chunked = false

  /**
   * `body`: bytes of a body that is whole, {@link NO_BODY}, {@link PUSHED}. `keepAlive`: lines that say so, with CRLF in front.
   * @throws TypeError for a name or value that nobody may send.
   */
  write(status: number, raw: readonly string[], closing: boolean, body: number, keepAlive: string): void {
    let text = statusLine(status)
    let date = false
    let length = false
    let upgrades = false
    this.closing = closing
    for (let i = 0; i < raw.length; i += 2) {
      const { kind, begin } = nameOf(raw[i]!)
      const value = raw[i + 1]!
      if (kind === ILLEGAL) throw new TypeError('illegal header name')
      // A non-string is never coerced: its toString may give different bytes each time.
      if (typeof value !== 'string' || !isFieldValue(value)) {
        throw new TypeError(`illegal value for header ${raw[i]}`)
      }
      switch (kind) {
        case HOP:
          continue
        case CONNECTION:
          if (!this.closing) this.closing = saysClose(value)
          continue
        case UPGRADE:
          // 426 names the protocols that it wants (RFC 9110, 15.5.22).
          if (status !== 426) continue
          upgrades = true
          break
        case DATE:
          date = true
          break
        case LENGTH:
          length = true
      }
      text += begin + value
    }
    if (!date) text += dateLine()
    this.chunked = false
    if (!length && body !== NO_BODY) {
      if (body === PUSHED) {
        this.chunked = true
        text += '\r\nTransfer-Encoding: chunked'
      } else text += `\r\nContent-Length: ${body}`
    }
    if (upgrades) text += `\r\nConnection: ${this.closing ? 'close, Upgrade' : 'Upgrade'}`
    else text += this.closing ? '\r\nConnection: close' : keepAlive
    this.text = `${text}\r\n\r\n`
  }

  /**
   * The same for lines that were looked through before. False: they have been edited, or frame another body; nothing was done.
   */
  writePrepared(
    status: number,
    headers: HeaderList,
    prepared: PreparedLines,
    closing: boolean,
    body: number,
    keepAlive: string,
  ): boolean {
    const { length } = prepared
    if (length === null || (body !== NO_BODY && body !== length) || !prepared.leads(headers)) return false
    const rest = prepared.rest(headers)
    if (rest === null) return false
    this.closing = closing
    this.chunked = false
    const lines = `${statusLine(status)}\r\n${prepared.text}${rest}Content-Length: ${length}`
    const date = prepared.dated ? '' : dateLine()
    this.text = `${lines}${date}${closing ? '\r\nConnection: close' : keepAlive}\r\n\r\n`
    return true
  }
}

/** An interim response, whose status and fields have been checked. */
export function interimHead(status: number, raw: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Interim'}\r\n`
  for (let i = 0; i < raw.length; i += 2) head += `${raw[i]}: ${raw[i + 1]}\r\n`
  return `${head}\r\n`
}
