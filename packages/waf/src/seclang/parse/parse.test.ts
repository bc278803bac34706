import { describe, expect, it } from 'vitest'
import { parseActions } from './actions.ts'
import { Mistake } from './fault.ts'
import { logicalLines } from './lines.ts'
import { parseOperator } from './operator.ts'
import { parseTargets } from './targets.ts'
import { splitWords } from './words.ts'

describe('logical lines', () => {
  it('joins continued lines and drops comments, also between them', () => {
    const source = '# a\nSecRule ARGS \\\n   # inside\n\n  "@rx a" \\\n "id:1"\r\n\nSecMarker X'
    expect(logicalLines(source)).toEqual([
      { text: 'SecRule ARGS "@rx a" "id:1"', line: 2 },
      { text: 'SecMarker X', line: 8 },
    ])
  })
})

describe('words', () => {
  it('unescapes quotes and nothing else', () => {
    expect(splitWords('SecRule ARGS "@rx \\"\\d+\\\\" id:1')).toEqual([
      'SecRule',
      'ARGS',
      '@rx "\\d+\\\\',
      'id:1',
    ])
  })

  it('refuses a quote that stays open, and text glued to one', () => {
    expect(() => splitWords('SecRule "a')).toThrow(Mistake)
    expect(() => splitWords('SecRule "a"b')).toThrow(Mistake)
  })
})

describe('targets', () => {
  const shape = (text: string) => {
    const { targets, exclusions } = parseTargets(text)
    const flat = (list: typeof targets) =>
      list.map(({ variable, selector, count }) => [
        `${count ? '&' : ''}${variable}`,
        selector === null ? null : selector.kind === 'key' ? selector.key : selector.source,
      ])
    return { targets: flat(targets), exclusions: flat(exclusions) }
  }

  it('reads names, keys, counts and exclusions', () => {
    expect(shape('args|!ARGS:Password|&REQUEST_HEADERS:Host|XML:/*|XML://@*')).toEqual({
      targets: [
        ['ARGS', null],
        ['&REQUEST_HEADERS', 'host'],
        ['XML', '/*'],
        ['XML', '//@*'],
      ],
      exclusions: [['ARGS', 'password']],
    })
  })

  it('does not split a pattern', () => {
    expect(shape("REQUEST_COOKIES:/a|b\\/c/|ARGS:'/x|y/'|TX:1").targets).toEqual([
      ['REQUEST_COOKIES', 'a|b/c'],
      ['ARGS', 'x|y'],
      ['TX', '1'],
    ])
  })

  it.each(['', 'ARGS||TX', 'ARGS:', '9', 'ARGS:/(/'])('refuses %j', text => {
    expect(() => parseTargets(text)).toThrow(Mistake)
  })
})

describe('operators', () => {
  it.each([
    ['@rx ^a b$', 'rx', '^a b$', false],
    ['!@PM a b', 'pm', 'a b', true],
    ['^plain', 'rx', '^plain', false],
    ['!plain', 'rx', 'plain', true],
    ['@detectSQLi', 'detectsqli', '', false],
  ])('%s', (text, name, argument, negated) => {
    expect(parseOperator(text)).toEqual({ name, argument, negated })
  })
})

describe('actions', () => {
  it('splits at commas outside quotes, and keeps what a value holds', () => {
    expect(
      parseActions(
        "id:'7',phase:2,t:none,msg:'a, \\'b\\': c',setvar:'tx.a=+%{tx.b}',multiMatch,ctl:ruleRemoveTargetById=1;ARGS:x",
      ),
    ).toEqual([
      { name: 'id', value: '7' },
      { name: 'phase', value: '2' },
      { name: 't', value: 'none' },
      { name: 'msg', value: "a, 'b': c" },
      { name: 'setvar', value: 'tx.a=+%{tx.b}' },
      { name: 'multimatch', value: null },
      { name: 'ctl', value: 'ruleRemoveTargetById=1;ARGS:x' },
    ])
  })

  it('refuses an open quote', () => {
    expect(() => parseActions("msg:'a,id:1")).toThrow(Mistake)
  })
})
