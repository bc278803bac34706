/** Surroundings that several patterns share: how a value is broken out of, and what an operand of SQL looks like. */
import { any, border, edge, gap, maybe, not, odd, quote, run, space, type Token, within } from './tokens.ts'

const WHITE = ' \t\n\r\v\f'

/**
 * The value so far is one argument: nothing white since its start, or not for 64 bytes. A command is smuggled in behind an
 * argument; a sentence or a script has spaces before its first separator.
 */
export const oneArgument: Token = [any(border, run(`^${WHITE}`, 1)), run(`^${WHITE}`, 0, 64)]

/** A number that is the whole value so far, with brackets that it closes: where an injection needs no quote. */
export const numberSoFar: Token = [border, run('-+( ', 0, 4), run('0-9.', 1, 20), run(`)${WHITE}+;`, 0, 16)]

/** A quote that closes a string which the value never opened, with brackets behind it. Backticks quote words in Markdown. */
export const brokenQuote: Token = [odd, not('`'), run(`)${WHITE}+;`, 0, 16)]

/** What lets SQL in: a closed string or a number that is the whole value so far. */
export const brokenOut: Token = any(brokenQuote, numberSoFar)

export const sqlNumber: Token = any(
  ['0x', run('0-9a-f', 1, 64)],
  [run('0-9', 1, 20), maybe('.', run('0-9', 1, 20))],
)
export const sqlText: Token = any(
  ["'", run("^'", 0, 64), any("'", border)],
  ['"', run('^"', 0, 64), any('"', border)],
)
export const sqlName: Token = [run('a-z_@$`[', 1), run('a-z0-9_.$@#`]', 0, 64)]
const signs = run(`(+-~!${WHITE}`, 0, 16)
/** A bracketed list of arguments, without brackets in it. */
const call = maybe(space, '(', run('^()', 0, 48), ')')
const term: Token = [
  signs,
  maybe('not', run(`(${WHITE}`, 1, 8)),
  any(sqlNumber, sqlText, [sqlName, call]),
  run(`)${WHITE}`, 0, 16),
]
/** A number, text, column or call, or two of them with an operator between. */
export const sqlOperand: Token = [term, maybe(run('+*/%|&^-', 1, 2), term)]
const sqlConstant: Token = [signs, any(sqlNumber, sqlText, 'null', 'true', 'false', ['char', space, '('])]

/** A comparison with its right side. Words need a constant there: `girls like football` compares nothing. */
export const sqlComparison: Token = any(
  [any('<=>', '!=', '<>', '<=', '>=', '==', '! =', '=', '<', '>'), sqlOperand],
  [
    maybe('not', gap),
    any('like', 'rlike', 'regexp', 'between', 'glob', 'ilike', 'sounds like', 'similar to', 'is', 'is not'),
    not(run('a-z0-9_', 1)),
    space,
    sqlConstant,
  ],
  [maybe('not', gap), 'in', space, '(', any(['select', gap], sqlConstant)],
)

/** A comment that ends a statement. */
export const sqlEnd: Token = [
  run(`);${WHITE}`, 0, 8),
  any(['--', any(border, gap, '-')], ['#', space, border], '/*', ';\0'),
]

/** Names of functions that scripts call to show that they run. */
export const SINKS = [
  'alert',
  'confirm',
  'prompt',
  'eval',
  'setTimeout',
  'setInterval',
  'fetch',
  'import',
  'atob',
] as const

/** Objects of a page that a script reaches for. */
export const pageObject: Token = [
  any(
    'document',
    'window',
    'location',
    'self',
    'top',
    'parent',
    'globalThis',
    'this',
    'frames',
    'navigator',
    'localStorage',
  ),
  any('.', '[', '?.', '=', ')'),
]

/** How JavaScript calls a function, right behind its name. */
export const called: Token = any(
  ['(', not('s)', "'s)")],
  '`',
  ['?.', any('(', '`')],
  [any('.', '?.'), any('call', 'apply', 'bind'), any('(', '`', '?.')],
  [')', any('(', '`', '?.(', '.call', '.apply')],
  [']', any('(', '`')],
)

/** Script code as the value of an attribute: something called, assigned or thrown. */
export const scriptValue: Token = [
  space,
  any(
    ['"', within(80, any('(', '`', '=', 'location', 'throw', 'javascript'), '"<')],
    ["'", within(80, any('(', '`', '=', 'location', 'throw', 'javascript'), "'<")],
    ['`', within(80, any('(', '=', 'location'), '`<')],
    within(80, any('(', '`', '=', 'location', 'throw'), ' \t\n\r<>&"\''),
  ),
]

/** What every course of HTML shows: a control that calls a function of its own page by name. */
const lesson: Token = [
  any('click', 'change', 'submit', 'input', 'keyup', 'keydown'),
  space,
  '=',
  space,
  quote,
  maybe('return '),
  not(...SINKS),
  run('a-z0-9_', 1, 40),
  '(',
  run('a-z0-9_, ', 0, 40),
  ')',
  maybe(';'),
  quote,
]

/** Name and `=` of an event handler, behind `on`. */
export const handlerName: Token = [not(lesson), run('a-z', 3, 30), edge, run(`${WHITE}/`, 0, 8), '=']
