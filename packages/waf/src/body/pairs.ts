/** Names and values of queries, forms and cookies. */
import type { Limits } from './options.ts'
import type { Trail } from './place.ts'
import { Refusal } from './refusal.ts'
import { Repeated } from './repeated.ts'
import type { Emit, Section } from './types.ts'

/**
 * Reads `a=1&b=2` as the WHATWG URL standard does: `&` separates, the first `=` ends the name, and both stay encoded.
 *
 * `;` is no separator here, though some old servers take it for one: what stands behind it is then part of the value
 * before, which is scanned as a whole. Nothing hides there; only the place is the one of the longer value.
 *
 * Values of one name go out one by one and, at the end, joined with commas, as some back ends read them.
 * @throws Refusal for more parameters than allowed.
 */
export function readPairs(text: string, section: Section, limits: Limits, trail: Trail, emit: Emit): void {
  trail.at(section)
  trail.encoded = true
  let from = 0
  let count = 0
  let repeated: Repeated | null = null
  while (from < text.length) {
    let equals = -1
    let end = from
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end)
      if (code === 0x26) break
      if (code === 0x3d && equals === -1) equals = end
    }
    if (end > from) {
      if (++count > limits.maxParameters) {
        trail.name = null
        throw new Refusal('parameters', section, `more than ${limits.maxParameters} parameters`)
      }
      pair(text, from, equals, end, trail, emit)
      if (equals !== -1 && equals + 1 < end) {
        repeated ??= new Repeated()
        repeated.add(trail.name!, text.slice(equals + 1, end))
      }
    }
    from = end + 1
  }
  repeated?.each((name, joined) => {
    trail.name = name
    emit(trail, joined, 'value')
  })
}

/** Reads the lines of `Cookie` (RFC 6265, 4.2): `;` separates. @throws Refusal for more cookies than allowed. */
export function readCookies(lines: readonly string[], limits: Limits, trail: Trail, emit: Emit): void {
  trail.at('cookie')
  trail.encoded = true
  let count = 0
  for (const line of lines) {
    let from = 0
    while (from < line.length) {
      let end = line.indexOf(';', from)
      if (end === -1) end = line.length
      while (from < end && (line.charCodeAt(from) === 0x20 || line.charCodeAt(from) === 0x09)) from++
      if (end > from) {
        if (++count > limits.maxParameters) {
          throw new Refusal('parameters', 'cookie', `more than ${limits.maxParameters} cookies`)
        }
        const equals = line.indexOf('=', from)
        pair(line, from, equals === -1 || equals > end ? -1 : equals, end, trail, emit)
      }
      from = end + 1
    }
  }
}

function pair(text: string, from: number, equals: number, end: number, trail: Trail, emit: Emit): void {
  // Without `=` it is a name to most, a value to some; patterns look for values.
  if (equals === -1) {
    trail.name = ''
    emit(trail, text.slice(from, end), 'value')
    return
  }
  const name = text.slice(from, equals)
  trail.name = name
  if (name !== '') emit(trail, name, 'key')
  if (equals + 1 < end) emit(trail, text.slice(equals + 1, end), 'value')
}
