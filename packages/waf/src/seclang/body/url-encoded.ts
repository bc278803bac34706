import type { Entry } from '../engine/form.ts'
import { escaped, urlDecode } from '../transform/url-decode.ts'
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
  if (!body.urlEncodedError) body.urlEncodedError = hasBadEscape(text)
  return urlDecode(text)
}

function hasBadEscape(text: string): boolean {
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 3)) {
    if (escaped(text, at + 1) === -1) return true
  }
  return false
}
