import { type Automaton, compileAutomaton } from '../../scanner/automaton.ts'
import { Mistake } from '../parse/fault.ts'
import type { Operator, OperatorFactory } from './operator.ts'

/** `@pm`: one of the phrases, which blanks separate, in any case. `|41 42|` stands for bytes. */
export const pm: OperatorFactory = argument =>
  phraseOperator(
    argument
      .split(/[ \t]+/)
      .filter(Boolean)
      .map(hexBytes),
  )

/** `@pmFromFile`: one phrase a line; lines that start with `#` are comments. Several files are separated by blanks. */
export const pmFromFile: OperatorFactory = (argument, source) => {
  const phrases: string[] = []
  for (const name of argument.split(/[ \t]+/).filter(Boolean)) {
    for (const line of source.file(name).split(/\r?\n/)) {
      const phrase = line.trim()
      if (phrase !== '' && !phrase.startsWith('#')) phrases.push(phrase)
    }
  }
  return phraseOperator(phrases)
}

function phraseOperator(phrases: readonly string[]): Operator {
  if (phrases.length === 0) throw new Mistake('there are no phrases', 'List at least one.')
  let automaton: Automaton | null = null
  return {
    literals: [
      [...new Set(phrases.map(phrase => phrase.slice(0, 8).replace(/[A-Z]+/g, part => part.toLowerCase())))],
    ],
    match(value, context, captures) {
      automaton ??= compileAutomaton(phrases)
      const word = firstWord(automaton, value.bytes)
      if (word === null) return false
      if (captures) context.capture(() => [value.text.slice(word.start, word.end)])
      return true
    },
    offset(value) {
      automaton ??= compileAutomaton(phrases)
      return firstWord(automaton, value.bytes)?.start ?? -1
    },
  }
}

function firstWord(automaton: Automaton, bytes: Uint8Array): { start: number; end: number } | null {
  const { columns, next, shift, firstEnd, starts, words, lengths } = automaton
  let state = 0
  for (let i = 0; i < bytes.length; i++) {
    state = next[(state << shift) | columns[bytes[i]!]!]!
    if (state < firstEnd) continue
    return { start: i + 1 - lengths[words[starts[state - firstEnd]!]!]!, end: i + 1 }
  }
  return null
}

/** Snort's notation: hexadecimal bytes between bars. */
function hexBytes(phrase: string): string {
  return phrase.replace(/\|([0-9a-fA-F]{2}(?: ?[0-9a-fA-F]{2})*)\|/g, (_, digits: string) =>
    Buffer.from(digits.replaceAll(' ', ''), 'hex').toString('latin1'),
  )
}
