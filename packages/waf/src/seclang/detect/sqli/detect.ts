/** Decides whether a value is an SQL injection: it is folded to a fingerprint, and known fingerprints are injections. */
import { isKnownFingerprint } from './fingerprints.ts'
import { fold } from './fold.ts'
import type { Token } from './token.ts'
import { type Quote, Tokeniser } from './tokenise.ts'
import { BAREWORD, COMMENT, EVIL, KEYWORD, NUMBER, UNION } from './words.ts'

interface Reading {
  readonly fingerprint: string
  readonly tokens: readonly Token[]
  readonly count: number
  readonly ambiguous: boolean
}

/** Fingerprint of the injection in a value; `null` when it is none. */
export function detectSqli(value: string): string | null {
  if (value === '') return null
  return (
    inContext(value, '', false) ??
    (value.includes("'") ? inContext(value, "'", false) : null) ??
    (value.includes('"') ? inContext(value, '"', true) : null)
  )
}

function inContext(value: string, quote: Quote, mysqlOnly: boolean): string | null {
  const first = readSql(value, quote, mysqlOnly)
  if (isInjection(value, first)) return first.fingerprint
  if (mysqlOnly || !first.ambiguous) return null
  const second = readSql(value, quote, true)
  return isInjection(value, second) ? second.fingerprint : null
}

/** Folds a value as it reads in one place and dialect. */
export function readSql(value: string, quote: Quote, mysql: boolean): Reading {
  const source = new Tokeniser(value, quote, mysql)
  const tokens = fold(source)
  const last = tokens.at(-1)
  // PHP's trick: an open, empty back-tick hides the rest like a comment.
  if (
    tokens.length > 2 &&
    last!.type === BAREWORD &&
    last!.open === '`' &&
    last!.length === 0 &&
    last!.close === ''
  )
    last!.type = COMMENT
  const types = tokens.map(({ type }) => type).join('')
  return {
    fingerprint: types.includes(EVIL) ? EVIL : types,
    tokens,
    count: source.count,
    ambiguous: source.ambiguous,
  }
}

function isInjection(value: string, reading: Reading): boolean {
  return (
    reading.fingerprint === EVIL || (isKnownFingerprint(reading.fingerprint) && !isHarmless(value, reading))
  )
}

/** Short fingerprints that ordinary texts have too. */
function isHarmless(value: string, { fingerprint, tokens, count }: Reading): boolean {
  const [a, b, c] = tokens
  if (fingerprint.length > 1 && fingerprint.endsWith(COMMENT) && value.toLowerCase().includes('sp_password'))
    return false
  if (fingerprint.length === 2) {
    if (b!.type === UNION) return count === 2
    if (b!.text.startsWith('#')) return true
    if (b!.type === COMMENT) {
      const slash = b!.text.startsWith('/')
      if (a!.type === BAREWORD && !slash) return true
      if (a!.type === NUMBER) return !slash && count <= 2 && !endsNumber(value, a!.length)
    }
    return b!.length > 2 && b!.text.startsWith('-')
  }
  if (fingerprint.length === 3) {
    if (fingerprint === 'sos' || fingerprint === 's&s') {
      return !(a!.open === '' && c!.close === '' && a!.close === c!.open)
    }
    if (['s&n', 'n&1', '1&1', '1&v', '1&s'].includes(fingerprint)) return count === 3
    if (b!.type === KEYWORD) return b!.text.length < 5 || b!.text.slice(0, 4).toLowerCase() !== 'into'
  }
  return false
}

/** A number that really ended: a blank or a comment follows. */
function endsNumber(value: string, at: number): boolean {
  return value.charCodeAt(at) <= 0x20 || value.startsWith('/*', at) || value.startsWith('--', at)
}
