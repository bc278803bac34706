/** Tokens become functions, once, when an engine is made. */
import { isWord } from '../normalise/bytes.ts'
import { foldCase, LOWER, setOf } from './bytes.ts'
import { isSequence, type Token, type TokenNode } from './tokens.ts'

/**
 * Tries a token at a place. Forwards, `at` is the first byte it may take; backwards, the one behind the last.
 * Gives the place beyond what was taken, or -1. Bytes before 0 or from `length` on do not exist.
 */
export type Matcher = (bytes: Uint8Array, at: number, length: number) => number

type Direction = 1 | -1

/** Compiles a sequence that follows the literal. */
export function compileAfter(tokens: readonly Token[]): Matcher {
  return sequence(tokens, 1)
}

/** Compiles a sequence that ends where the literal starts. It is written from left to right and read from right to left. */
export function compileBefore(tokens: readonly Token[]): Matcher {
  return sequence(tokens, -1)
}

function compile(token: Token, direction: Direction): Matcher {
  if (typeof token === 'string') return literal(token, direction)
  if (isSequence(token)) return sequence(token, direction)
  return compileNode(token, direction)
}

function compileNode(token: TokenNode, direction: Direction): Matcher {
  switch (token.op) {
    case 'any':
      return firstOf(token.of, direction)
    case 'maybe': {
      const inner = compile(token.of, direction)
      return (bytes, at, length) => {
        const next = inner(bytes, at, length)
        return next < 0 ? at : next
      }
    }
    case 'not': {
      const inner = compile(token.of, direction)
      return (bytes, at, length) => (inner(bytes, at, length) < 0 ? at : -1)
    }
    case 'run':
      return runOf(setOf(token.set), token.least, token.most, direction)
    case 'within':
      return search(compile(token.of, direction), token.bytes, setOf(token.stop), direction)
    case 'edge':
      return direction === 1
        ? (bytes, at, length) => (at < length && isWord(bytes[at]) ? -1 : at)
        : (bytes, at) => (at > 0 && isWord(bytes[at - 1]) ? -1 : at)
    case 'border':
      return direction === 1 ? (_, at, length) => (at === length ? at : -1) : (_, at) => (at === 0 ? at : -1)
    case 'odd':
      if (direction === 1) throw new RangeError("'odd' can only stand in `before`")
      return oddQuotes(token.bytes)
  }
}

function sequence(tokens: readonly Token[], direction: Direction): Matcher {
  const parts = tokens.map(token => compile(token, direction))
  if (direction === -1) parts.reverse()
  if (parts.length === 1) return parts[0]!
  return (bytes, at, length) => {
    let place = at
    for (let i = 0; i < parts.length && place >= 0; i += 1) place = parts[i]!(bytes, place, length)
    return place
  }
}

/** Alternatives in order. Literals are told apart by their first byte before any is tried. */
function firstOf(tokens: readonly Token[], direction: Direction): Matcher {
  const parts = tokens.map(token => compile(token, direction))
  const plain = tokens.every(token => typeof token === 'string')
  if (!plain) {
    return (bytes, at, length) => {
      for (let i = 0; i < parts.length; i += 1) {
        const next = parts[i]!(bytes, at, length)
        if (next >= 0) return next
      }
      return -1
    }
  }
  const table: Matcher[][] = Array.from({ length: 256 }, () => [])
  tokens.forEach((token, i) => {
    const text = foldCase(token as string)
    table[text.charCodeAt(direction === 1 ? 0 : text.length - 1)]!.push(parts[i]!)
  })
  return (bytes, at, length) => {
    const place = direction === 1 ? at : at - 1
    if (place < 0 || place >= length) return -1
    const candidates = table[LOWER[bytes[place]!]!]!
    for (let i = 0; i < candidates.length; i += 1) {
      const next = candidates[i]!(bytes, at, length)
      if (next >= 0) return next
    }
    return -1
  }
}

function literal(text: string, direction: Direction): Matcher {
  const wanted = Buffer.from(foldCase(text), 'latin1')
  const size = wanted.length
  if (direction === 1) {
    return (bytes, at, length) => {
      if (at + size > length) return -1
      for (let i = 0; i < size; i += 1) if (LOWER[bytes[at + i]!] !== wanted[i]) return -1
      return at + size
    }
  }
  return (bytes, at) => {
    const start = at - size
    if (start < 0) return -1
    for (let i = 0; i < size; i += 1) if (LOWER[bytes[start + i]!] !== wanted[i]) return -1
    return start
  }
}

function runOf(set: Uint8Array, least: number, most: number, direction: Direction): Matcher {
  if (direction === 1) {
    return (bytes, at, length) => {
      const last = Math.min(at + most, length)
      let i = at
      while (i < last && set[bytes[i]!] === 1) i += 1
      return i - at < least ? -1 : i
    }
  }
  return (bytes, at) => {
    const first = Math.max(at - most, 0)
    let i = at
    while (i > first && set[bytes[i - 1]!] === 1) i -= 1
    return at - i < least ? -1 : i
  }
}

function search(inner: Matcher, reach: number, stop: Uint8Array, direction: Direction): Matcher {
  return (bytes, at, length) => {
    for (let i = 0; i <= reach; i += 1) {
      const place = at + i * direction
      if (place < 0 || place > length) return -1
      const next = inner(bytes, place, length)
      if (next >= 0) return next
      const passed = direction === 1 ? place : place - 1
      if (passed < 0 || passed >= length || stop[bytes[passed]!] === 1) return -1
    }
    return -1
  }
}

function oddQuotes(reach: number): Matcher {
  return (bytes, at) => {
    const kind = at > 0 ? bytes[at - 1]! : 0
    if (kind !== 0x27 && kind !== 0x22 && kind !== 0x60) return -1
    const first = Math.max(at - reach, 0)
    let count = 0
    for (let i = at - 1; i >= first; i -= 1) if (bytes[i] === kind) count += 1
    return count % 2 === 1 ? at - 1 : -1
  }
}
