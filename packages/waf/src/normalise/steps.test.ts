import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base64 } from './base64.ts'
import { entities } from './entities.ts'
import { escapes } from './escapes.ts'
import { pathDots, shellQuotes, sqlComments, stringJoins, tags, whiteSpace } from './fold.ts'
import { formEncoding, percent } from './percent.ts'
import { applyStep, type Step } from './step.ts'
import { nul, unicode } from './unicode.ts'

const utf8 = (text: string): string => Buffer.from(text).toString('latin1')

/** Step, text, result. */
const cases: readonly (readonly [string, Step, string, string])[] = [
  ['percent', percent, '%27%3c%2F', "'</"],
  ['percent', percent, '%2527', '%27'],
  ['percent', percent, '%u0027%u4e2d', `'${utf8('中')}`],
  ['percent', percent, '100%, %zz %4', '100%, %zz %4'],
  ['percent', percent, 'a+b', 'a+b'],
  ['formEncoding', formEncoding, 'a+b%2Bc', 'a b+c'],
  ['entities', entities, '&lt;&#60;&#x3C;&#0000060', '<<<<'],
  ['entities', entities, '&ltscript&gt &colon;&lpar;&Tab;', '<script> :(\t'],
  ['entities', entities, 'R&D &unknown; &#; &#xg', 'R&D &unknown; &#; &#xg'],
  ['entities', entities, 'a&b=c&amp;d', 'a&b=c&d'],
  ['escapes', escapes, '\\x27\\u0027\\u{27}\\047\\27 ', "'''''"],
  ['escapes', escapes, '\\n\\/\\"', '\n/"'],
  ['escapes', escapes, 'C:\\windows\\q', 'C:\\windows\\q'],
  ['unicode', unicode, '\xc0\xae\xe0\x80\xaf', './'],
  ['unicode', unicode, utf8('＜ｓｃｒｉｐｔ＞\u3000'), '<script> '],
  ['unicode', unicode, utf8('java\u200bscript\ufeff'), 'javascript'],
  ['unicode', unicode, utf8('Grüße “so” 中文 ’'), utf8('Grüße “so” 中文 ’')],
  ['nul', nul, 'scr\0ipt', 'script'],
  ['sqlComments', sqlComments, 'union/**/select/*a*/1', 'union select 1'],
  ['sqlComments', sqlComments, '/*!50000union*/ /*!select*/', ' union   select '],
  ['sqlComments', sqlComments, 'a /* b', 'a /* b'],
  ['whiteSpace', whiteSpace, `a${' '.repeat(20)}b\t c`, 'a b\t c'],
  ['pathDots', pathDots, '/etc/./passwd//x', '/etc/passwd/x'],
  ['pathDots', pathDots, 'http://h/a', 'http://h/a'],
  ['shellQuotes', shellQuotes, `/et'c/pa'ss'wd c""at w\\ho^ami`, '/etc/passwd cat whoami'],
  ['shellQuotes', shellQuotes, 'cat$IFS/x ls${IFS}-l id$IFS$9a wh$@oami', 'cat /x ls -l id a whoami'],
  ['shellQuotes', shellQuotes, "' or '1'='1", "' or '1'='1"],
  ['stringJoins', stringJoins, "'al'+'ert' \"a\" . \"b\" 'c'||'d'", "'alert' \"ab\" 'cd'"],
  ['stringJoins', stringJoins, "''+'' 'a' + b", "''+'' 'a' + b"],
  ['tags', tags, 'on<x>focus=a<!--b-->c</p>', 'onfocus=ac'],
  ['tags', tags, 'a < b > c <3', 'a < b > c <3'],
  ['base64', base64, 'PHNjcmlwdD4', '<script>'],
  ['base64', base64, 'controller', ''],
]

describe('each step', () => {
  it.each(cases)('%s of %#', (_name, step, text, result) => {
    expect(applyStep(step, text)).toBe(result)
  })
})

const steps: readonly (readonly [string, Step])[] = [...new Map(cases.map(([name, step]) => [name, step]))]
const pieces = fc.constantFrom(
  '%',
  '%2',
  '%u00',
  '27',
  '&',
  '&#',
  '&lt',
  ';',
  '\\',
  '\\u',
  '{',
  "'",
  '"',
  '+',
  '/*',
  '*/',
  '!',
  '..',
  '/',
  '\xc0',
  '\xe0\x80',
  '\xef\xbc',
  '\xae',
  '$IFS',
  '^',
  '<',
  '>',
  ' ',
  '\n',
  '\0',
  'a',
  'x',
  '=',
)
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map(list => list.join('')),
  fc.uint8Array({ maxLength: 80 }).map(bytes => Buffer.from(bytes).toString('latin1')),
)

describe.each(steps)('%s', (_name, step) => {
  it('never grows a text, and gives the same in place as into another buffer', () => {
    fc.assert(
      fc.property(texts, text => {
        const from = Buffer.from(text, 'latin1')
        const to = Buffer.alloc(from.length + 8)
        const length = step(from, from.length, to)
        expect(length).toBeLessThanOrEqual(text.length)
        expect(applyStep(step, text)).toBe(to.toString('latin1', 0, length))
        expect([...to.subarray(from.length)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
      }),
      { numRuns: 300 },
    )
  })

  it('changes a text only when it shortens it', () => {
    fc.assert(
      fc.property(texts, text => {
        const result = applyStep(step, text)
        // `+` for a space is the one change that keeps the length; the form encoding runs first, always.
        const same = text.replaceAll('+', ' ')
        if (result.length === text.length) expect(result.replaceAll('+', ' ')).toBe(same)
      }),
    )
  })
})
