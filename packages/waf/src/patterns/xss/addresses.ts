/** Cross-site scripting: addresses that run a script. */
import { SINKS } from '../context.ts'
import type { Pattern } from '../pattern.ts'
import { any, border, edge, maybe, not, quote, run, space, type Token, within, words } from '../tokens.ts'

const category = 'xss'
const severity = 'high'
const WHITE = ' \t\n\r\v\f'
/** Letters with white space or control characters between them, which browsers take out of an address. */
const spread = (text: string): Token => [...text].flatMap(letter => [run('\0-\x20', 0, 4), letter])
/** What follows `javascript:` in an address that does something. */
const scriptStart: Token = any(
  [run('a-z_$0-9', 1, 40), any('(', '`', '[', '=', '.', '?.', ')')],
  run('/"\'`([{!+~<*;-', 1),
  ['void', edge],
  run('\x80-\xff', 1),
)
const tagEnd = any(run(`${WHITE}/>`, 1), border)
const addressOf = [
  any(
    ...words(`
    href src action formaction data xlink:href srcdoc background poster dynsrc lowsrc to from values content
    url
  `),
  ),
  space,
  '=',
  space,
  maybe(quote),
]

export const xssAddresses: readonly Pattern[] = [
  {
    id: 'xss-script-address',
    category,
    severity,
    message: 'The value is a javascript: address',
    score: 5,
    literals: ['javascript:', 'vbscript:', 'livescript:', 'jscript:'],
    before: [border, run(`${WHITE}'"(`, 0, 8), maybe('/'), maybe('view-source:')],
    after: [run(`${WHITE}`, 0, 4), scriptStart],
    match: [
      'javascript:alert(1)',
      ' JaVaScRiPt:void(0)',
      '/javascript:f()',
      'javascript://%0aalert(1)',
      'vbscript:msgbox(1)',
    ],
    pass: ['JavaScript: The Good Parts', 'javascript:', 'learn javascript: it is'],
  },
  {
    id: 'xss-script-attribute',
    category,
    severity,
    message: 'A javascript: address in an attribute, a style or a Markdown link',
    score: 5,
    literals: words('javascript: vbscript: livescript: feed:javascript javascript&colon jar:javascript'),
    before: [
      any([any('=', 'url(', '](', ':', ',', ';url='), space, maybe(quote)], [any('"', "'", '`'), space]),
    ],
    after: [run(`${WHITE}`, 0, 4), not('void(0)', 'void 0'), any(scriptStart, ...SINKS)],
    match: [
      '<a href="javascript:f()">',
      '[x](javascript:alert(1))',
      'src=javascript:f()',
      'background:url(javascript:f())',
    ],
    pass: ['<a href="javascript:void(0)">', 'in javascript: x', '"javascript"'],
  },
  {
    id: 'xss-script-spread',
    category,
    severity,
    message: 'A javascript: address with white space or control characters inside the word',
    score: 5,
    literals: ['=j', '="j', "='j", '= j', '=\tj', '=\nj', '=\x01j', '="\tj', '=" j', "=' j", '(j'],
    after: [not('avascript:'), spread('avascript:')],
    match: ['<a href="java\tscript:f()">', '<iframe src=j\na\nv\na\ns\ncript:f()>', 'src="java sc ript:x"'],
    pass: ['href="javascript:f()"', 'x=java script', '=java'],
  },
  {
    id: 'xss-data-address',
    category,
    severity,
    message: 'A data: address with markup or script',
    score: 5,
    literals: words(`
      data:text/html data:text/javascript data:application/javascript data:application/xml data:text/xml data:application/xhtml+xml data:application/x-javascript
      data:;base64 data:,<
    `),
    before: [any([border, run(`${WHITE}'"`, 0, 4)], [any('=', '(', 'url('), space, maybe(quote)])],
    after: [
      run('a-z0-9=;_-', 0, 40),
      any(
        [',', within(60, any('<', '%3c', 'alert', 'phn', 'script'))],
        [run('a-z', 0, 8), '<'],
        'script',
        [';base64'],
        border,
      ),
    ],
    match: [
      'data:text/html,<script>',
      '<iframe src="data:text/html;base64,PHNj',
      'data:text/html;base64,PHNjcmlwdD4=',
    ],
    pass: ['data:image/png;base64,iVBOR', 'metadata:text/html', 'data:text/plain,hello'],
  },
  {
    id: 'xss-address-attribute',
    category,
    severity: 'medium',
    message: 'An address of an element that loads or sends by itself, with a scheme that may run',
    score: 3,
    aggressive: 5,
    literals: ['<iframe', '<object', '<embed', '<applet', '<base', '<frame', '<portal', '<fencedframe'],
    after: [tagEnd, within(80, addressOf, '>')],
    match: ['<iframe src=//h>', '<object data="x.swf">', '<base href=//h/>'],
    pass: ['<iframes>', '<based on>', '<object id=x>'],
  },
  {
    id: 'xss-srcdoc',
    category,
    severity,
    message: 'A frame with its document written in an attribute',
    score: 5,
    literals: ['srcdoc'],
    before: [any(run(`${WHITE}/"'`, 1), border)],
    after: [space, '=', space, maybe(quote), run('^\n', 1)],
    match: ['<iframe srcdoc="<p>x">', '<iframe/srcdoc=&lt;'],
    pass: ['the srcdoc attribute', 'mysrcdoc=x'],
  },
  {
    id: 'xss-meta-refresh',
    category,
    severity,
    message: 'A page told to go elsewhere or to take a cookie',
    score: 5,
    literals: ['<meta'],
    after: [
      run(`${WHITE}/`, 1, 8),
      within(
        60,
        [
          'http-equiv',
          space,
          '=',
          space,
          maybe(quote),
          any('refresh', 'set-cookie', 'link', '&#', 'content-security'),
        ],
        '>',
      ),
    ],
    match: ['<meta http-equiv="refresh" content="0;url=//h">', '<META HTTP-EQUIV=Set-Cookie content=a>'],
    pass: ['<meta charset=utf-8>', '<meta name=description content="x">', '<metadata http-equiv="refresh">'],
  },
  {
    id: 'xss-svg-animate',
    category,
    severity,
    message: 'An SVG or MathML element that sets an address or a handler',
    score: 5,
    literals: words(
      '<animate <set <animatetransform <math <use <foreignobject <maction <handler <image <svg',
    ),
    after: [
      tagEnd,
      within(
        160,
        any(
          ['attributename', space, '=', space, maybe(quote), any('href', 'xlink:href', 'on')],
          ['xlink:href', space, '=', space, maybe(quote), any('javascript', 'data:', '//', 'http')],
          ['href', space, '=', space, maybe(quote), any('data:', 'javascript')],
          'values=javascript',
          ['actiontype', space, '='],
        ),
      ),
    ],
    match: [
      '<svg><animate attributeName=href values=javascript:f()',
      '<use xlink:href=data:x',
      '<math><a xlink:href="javascript:f"',
    ],
    pass: ['<svg viewBox="0 0 1 1"><path d="M0"/></svg>', '<settings>', '<use href="#icon">'],
  },
  {
    id: 'xss-form-address',
    category,
    severity,
    message: 'A form or button that sends to a script or elsewhere',
    score: 3,
    aggressive: 5,
    literals: ['formaction', '<form', '<isindex', '<keygen'],
    before: [any(border, run('^a-z0-9_', 1), edge)],
    after: [
      run(`${WHITE}/`, 0, 8),
      within(
        60,
        [any('=', 'action=', 'action ='), space, maybe(quote), any('javascript', 'http', '//', 'data:')],
        '>',
      ),
    ],
    match: [
      '<button formaction=javascript:f()>',
      '<form action="https://h/x">',
      '<form method=post action=//h>',
    ],
    pass: ['<form action="/login">', 'a formaction attribute', '<form id=x>'],
  },
  {
    id: 'xss-entity-script',
    category,
    severity,
    message: 'The word javascript spelt in character references',
    score: 5,
    literals: words(`
      &#106 &#x6a &#74 &#x4a &#0000106 &#x6A; j&# ja&# jav&# java&# javas&# javasc&# javascr&# javascri&#
      javascrip&# javascript&# java&tab; jav&newline; javas&tab; javascript&colon;
    `),
    before: [any('=', quote, border, run('a-z ', 1))],
    after: [
      run('^ \n', 1, 4),
      within(80, any('&#', 'script', 'ript:', 'ipt:', 'pt:', 't:', '(', '&lpar'), ' \n'),
    ],
    match: ['<a href="&#106;avascript:f()">', 'href=jav&#x61;script:f()', 'java&Tab;script:f()'],
    pass: ['R&#38;D', 'caf&#233;', '&#74 '],
  },
  {
    id: 'xss-script-scheme',
    category,
    severity,
    message: 'The end of a script address with a dialog or evaluator behind it',
    score: 5,
    literals: ['script:', 'cript:', 'ript:'],
    after: [space, any(...SINKS), any('(', '`', '.', '?.', ')')],
    match: ['vascript:alert(1)', 'x script: confirm`1`'],
    pass: ['script: alert the crew', 'transcript: yes'],
  },
  {
    id: 'xss-data-image',
    category,
    severity,
    message: 'A picture in a data: address with script in it',
    score: 5,
    literals: ['data:image/svg+xml', 'data:image/svg'],
    after: [
      run('a-z0-9=;_+-', 0, 40),
      ',',
      within(200, any('<script', 'onload', 'onerror', 'javascript:', 'alert(', '<foreignobject', 'onbegin')),
    ],
    match: ['data:image/svg+xml,<svg onload=f()>', 'data:image/svg+xml;utf8,<svg><script>'],
    pass: ['data:image/svg+xml;base64,PHN2ZyB4bWxucz0i', 'data:image/svg+xml,<svg><path d="M0"/></svg>'],
  },
]
