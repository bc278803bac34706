import { Mistake } from './fault.ts'

/** Words of a directive. In a quoted word only `\"` is an escape: all else belongs to the regular expression in it. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let at = 0
  while (at < text.length) {
    if (text[at] === ' ' || text[at] === '\t') {
      at += 1
    } else if (text[at] === '"') {
      const end = closingQuote(text, at + 1)
      words.push(text.slice(at + 1, end).replaceAll('\\"', '"'))
      at = end + 1
      if (at < text.length && text[at] !== ' ' && text[at] !== '\t') {
        throw new Mistake(
          'text follows directly after a closing quote',
          'Put a blank between the parts, or escape the quote as \\".',
        )
      }
    } else {
      const end = endOfWord(text, at)
      words.push(text.slice(at, end))
      at = end
    }
  }
  return words
}

/** The first quote with an even number of backslashes before it. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  throw new Mistake('a quote is not closed', 'Add the closing ", or a \\ at the end of the line to go on.')
}

function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== ' ' && text[at] !== '\t') at += 1
  return at
}
