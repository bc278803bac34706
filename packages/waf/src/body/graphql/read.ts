/**
 * GraphQL documents (spec October 2021, 2.1), taken apart into tokens.
 *
 * Two things go out: each string as a back end reads it, and the document with its strings and comments taken out, for
 * patterns of introspection and the like. A text that is no document at all is told from one that goes too far.
 */
import { escapeLength, unescaped } from '../json/strings.ts'
import type { Limits } from '../options.ts'
import type { Trail } from '../place.ts'
import { Refusal } from '../refusal.ts'
import type { Emit } from '../types.ts'

/** True for a text that begins like a document: then it is worth reading it as one. */
export function looksLikeGraphql(text: string): boolean {
  return (
    /^[\s,]{0,64}(?:\{|(?:query|mutation|subscription|fragment)\b)/.test(text.slice(0, 96)) &&
    text.includes('{')
  )
}

/**
 * Reads a document. Gives its number of tokens, or -1 for a text that is none: then nothing was emitted.
 * @throws Refusal beyond a limit.
 */
export function readGraphql(text: string, limits: Limits, trail: Trail, emit: Emit): number {
  const strings: string[] = []
  const comments: string[] = []
  // Kinds of the open brackets.
  const open: number[] = []
  let skeleton = ''
  let kept = 0
  let tokens = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isIgnored(code)) {
      at++
      continue
    }
    if (++tokens > limits.maxTokens) {
      throw new Refusal('graphql-tokens', trail.toString(), `more than ${limits.maxTokens} tokens`)
    }
    if (code === 0x23) {
      const end = lineEnd(text, at)
      if (end > at + 1) comments.push(text.slice(at + 1, end))
      skeleton += text.slice(kept, at)
      at = kept = end
      continue
    }
    if (code === 0x22) {
      const block = text.startsWith('"""', at)
      const end = block ? blockEnd(text, at + 3) : stringEnd(text, at + 1)
      if (end === -1) return -1
      if (block) strings.push(text.slice(at + 3, end).replaceAll('\\"""', '"""'))
      else strings.push(unescaped(text, at + 1, end))
      skeleton += `${text.slice(kept, at)}""`
      at = kept = end + (block ? 3 : 1)
    } else if (isNameByte(code)) {
      while (at < text.length && isNameByte(text.charCodeAt(at))) at++
    } else if (code === 0x7b || code === 0x28 || code === 0x5b) {
      if (open.length >= limits.maxDepth) {
        throw new Refusal('graphql-depth', trail.toString(), `nested deeper than ${limits.maxDepth}`)
      }
      open.push(code)
      at++
    } else if (code === 0x7d || code === 0x29 || code === 0x5d) {
      const opened = open.pop()
      if (opened !== (code === 0x29 ? 0x28 : code - 2)) return -1
      at++
    } else if (text.startsWith('...', at)) at += 3
    // Numbers are names with a sign and a dot here: `- . + ! $ & : = @ |`.
    else if ('-.+!$&:=@|'.includes(text[at]!)) at++
    else return -1
  }
  if (open.length > 0 || tokens === 0) return -1
  const { section } = trail
  trail.section = 'graphql'
  emit(trail, kept === 0 ? text : skeleton + text.slice(kept), 'text')
  for (const string of strings) if (string !== '') emit(trail, string, 'value')
  for (const comment of comments) emit(trail, comment, 'text')
  trail.section = section
  return tokens
}

/** White space, line ends, commas; a byte order mark counts too. */
function isIgnored(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x0a ||
    code === 0x0d ||
    code === 0x09 ||
    code === 0x2c ||
    code === 0xef ||
    code === 0xbb ||
    code === 0xbf
  )
}

function isNameByte(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a && code >= 0x41) || code === 0x5f || (code >= 0x30 && code <= 0x39)
}

function lineEnd(text: string, at: number): number {
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x0a || code === 0x0d) return i
  }
  return text.length
}

function stringEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at
    if (code === 0x5c) {
      const length = escapeLength(text, at)
      if (length === 0) return -1
      at += length
    } else if (code >= 0x20 || code === 0x09) at++
    else return -1
  }
}

function blockEnd(text: string, from: number): number {
  let at = text.indexOf('"""', from)
  while (at > 0 && text[at - 1] === '\\') at = text.indexOf('"""', at + 3)
  return at
}
