import type { Entry } from '../engine/form.ts'
import { escaped } from '../transform/url-decode.ts'
import { addArgument, type BodyLimits, emptyBody, type ParsedBody } from './body.ts'

/** Reads `a=1&b=2`. A name without `=` has an empty value; what is no valid escape stays as it is. */
export function readUrlEncoded(text: string, limits: BodyLimits): ParsedBody {
  const body = emptyBody()
  if (text === '') return body
  for (let from = 0; from <= text.length; ) {
    let to = text.indexOf(limits.separator, from)
    if (to === -1) to = text.length
    if (to > from) {
      const equals = text.indexOf('=', from)
      const split = equals === -1 || equals >= to ? to : equals
      const key = decode(text.slice(from, split), body)
      const value = split === to ? '' : decode(text.slice(split + 1, to), body)
      if (!addArgument(body, limits, key, value)) break
    }
    from = to + 1
  }
  return body
}

/** The arguments of a query. */
export function readQuery(query: string, limits: BodyLimits): Entry[] {
  return readUrlEncoded(query, limits).args
}

function decode(text: string, body: ParsedBody): string {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text
  let out = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2b) {
      out += `${text.slice(from, at)} `
      from = at + 1
    } else if (code === 0x25) {
      const byte = escaped(text, at + 1)
      if (byte === -1) {
        body.urlEncodedError = true
        continue
      }
      out += text.slice(from, at) + String.fromCharCode(byte)
      at += 2
      from = at + 1
    }
  }
  return out + text.slice(from)
}
