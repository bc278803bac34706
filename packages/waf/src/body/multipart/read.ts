/**
 * Multipart bodies (RFC 2046, 5.1; RFC 7578), read strictly: CRLF only, nothing before the first delimiter or behind the
 * last, and the boundary nowhere else. Where two parsers could find different parts, the body is refused.
 */
import { readOpaque } from '../binary.ts'
import { formatOf, type MediaType } from '../content-type.ts'
import { readJson } from '../json/read.ts'
import type { Limits } from '../options.ts'
import { legible, type Trail } from '../place.ts'
import { Refusal } from '../refusal.ts'
import type { Emit } from '../types.ts'
import { readXml } from '../xml/read.ts'
import { type PartHead, readPartHead } from './part-head.ts'

/** RFC 2046, 5.1.1, without the space that it allows inside. */
const BOUNDARY = /^[\w'()+,\-./:=?]{1,70}$/
const PLACE = 'multipart'

/**
 * Reads the parts. `text` has one character a byte.
 * @throws Refusal for bad form, and beyond a limit.
 */
export function readMultipart(
  text: string,
  type: MediaType,
  limits: Limits,
  trail: Trail,
  emit: Emit,
  truncated = false,
): void {
  const boundary = type.parameters.get('boundary')
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw new Refusal('multipart-boundary', 'header:content-type', 'no boundary that all read alike')
  }
  const form = type.essence === 'multipart/form-data'
  const dash = `--${boundary}`
  const delimiter = `\r\n${dash}`
  trail.at(PLACE)
  if (!text.startsWith(dash))
    throw new Refusal('multipart-preamble', PLACE, 'something before the first delimiter')
  let at = dash.length
  let parts = 0
  while (text.startsWith('\r\n', at)) {
    if (++parts > limits.maxParameters) {
      throw new Refusal('parameters', PLACE, `more than ${limits.maxParameters} parts`)
    }
    at += 2
    const content = headEnd(text, at, limits, truncated)
    if (content === -1) return emit(trail, text.slice(at), 'text')
    const head = readPartHead(text.slice(at, Math.max(at, content - 4)), form, limits)
    let end = text.indexOf(delimiter, content - 2)
    const cut = end === -1
    if (cut) {
      if (!truncated) throw new Refusal('multipart-end', PLACE, 'no closing delimiter')
      end = text.length
    }
    // An empty part: its delimiter shares the line end with the head.
    const from = Math.min(content, end)
    checkContent(text, from, end, dash)
    readPart(text.slice(from, end), head, limits, trail, emit, cut)
    if (cut) return
    at = end + delimiter.length
  }
  if (truncated && at + 2 > text.length) return
  if (!text.startsWith('--', at))
    throw new Refusal('multipart-boundary', PLACE, 'a delimiter with something behind it')
  at += 2
  if (text.startsWith('\r\n', at)) at += 2
  else if (truncated && text.slice(at) === '\r') return
  if (at < text.length)
    throw new Refusal('multipart-epilogue', PLACE, 'something behind the closing delimiter')
}

/** Where the content begins; -1 when the body was cut off within the head. */
function headEnd(text: string, at: number, limits: Limits, truncated: boolean): number {
  if (text.startsWith('\r\n', at)) return at + 2
  const head = text.slice(at, at + limits.maxPartHead + 4)
  const end = head.indexOf('\r\n\r\n')
  if (end !== -1) return at + end + 4
  if (truncated && at + head.length >= text.length) return -1
  throw new Refusal(
    'multipart-head',
    PLACE,
    `the head of a part is longer than ${limits.maxPartHead} bytes, or has no end`,
  )
}

/** RFC 2046, 5.1.1: the boundary must not stand in the content. Lenient readers find it behind a bare line end. */
function checkContent(text: string, from: number, end: number, dash: string): void {
  const inside = text.indexOf(dash, from)
  // The delimiter's own dashes come two bytes behind its beginning.
  if (inside !== -1 && inside < end) {
    throw new Refusal('multipart-boundary', PLACE, 'the boundary within a part')
  }
}

function readPart(
  text: string,
  head: PartHead,
  limits: Limits,
  trail: Trail,
  emit: Emit,
  cut: boolean,
): void {
  trail.at(PLACE)
  trail.name = head.name
  if (head.name !== null) emit(trail, head.name, 'key')
  if (head.name === '_charset_' && !limits.charsets.has(text.toLowerCase())) {
    throw new Refusal('charset', PLACE, 'a charset that is not allowed')
  }
  for (const [name, value] of head.others) {
    trail.suffix = `.header:${name}`
    if (value !== '') emit(trail, value, 'value')
  }
  if (head.filename !== null) {
    trail.suffix = '.filename'
    if (head.filename !== '') emit(trail, head.filename, 'value')
    trail.suffix = ''
    return readOpaque(text, trail, emit)
  }
  trail.suffix = ''
  if (text === '') return
  const format = head.type === null ? 'text' : formatOf(head.type)
  if (format === 'json' || format === 'xml') {
    const root = head.name === null ? PLACE : `${PLACE}.${legible(head.name)}`
    trail.at(format, root)
    if (format === 'json') readJson(text, limits, trail, emit, cut)
    else readXml(text, limits, trail, emit, cut)
  } else if (format === 'binary' || head.name === null) readOpaque(text, trail, emit)
  else emit(trail, text, 'value')
}
