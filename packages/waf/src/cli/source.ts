/** A rule as it is written, for people. */
import { readFileSync } from 'node:fs'
import { parseActions } from '../seclang/parse/actions.ts'
import type { Place } from '../seclang/parse/fault.ts'
import { logicalLines } from '../seclang/parse/lines.ts'
import { splitWords } from '../seclang/parse/words.ts'

/** A rule, or a member of its chain. */
export interface WrittenRule {
  readonly variables: string
  readonly operator: string
  readonly transformations: string
}

/** The rule at a place with its chain; nothing for rules that stand in no file. */
export function sourceOf({ file, line }: Place): WrittenRule[] {
  const found: WrittenRule[] = []
  for (const { text, line: at } of linesOf(file)) {
    if (at < line) continue
    const [directive, ...words] = splitWords(text)
    if (directive?.toLowerCase() !== 'secrule') break
    const actions = parseActions(words[2] ?? '')
    found.push({
      variables: words[0] ?? '',
      operator: words[1] ?? '',
      transformations: actions
        .filter(({ name, value }) => name === 't' && value?.toLowerCase() !== 'none')
        .map(({ value }) => value)
        .join(', '),
    })
    if (!actions.some(({ name }) => name === 'chain')) break
  }
  return found
}

const files = new Map<string, ReturnType<typeof logicalLines>>()

function linesOf(file: string): ReturnType<typeof logicalLines> {
  let lines = files.get(file)
  if (lines === undefined) {
    try {
      lines = logicalLines(readFileSync(file, 'latin1'))
    } catch {
      lines = []
    }
    files.set(file, lines)
  }
  return lines
}
