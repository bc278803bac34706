/** Cross-site scripting: tags, attributes and addresses that run a script. */
import { handlerName, SINKS, scriptValue } from './context.ts'
import type { Pattern } from './pattern.ts'
import {
  any,
  border,
  edge,
  letters,
  maybe,
  not,
  phrases,
  quote,
  run,
  space,
  type Token,
  within,
  words,
} from './tokens.ts'

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

export const xssMarkup: readonly Pattern[] = [
  {
    id: 'xss-script-tag',
    category,
    severity,
    message: 'A script element',
    score: 5,
    literals: ['<script', '<\0script', '<svg:script', '<xsl:script', '<x:script'],
    after: [
      any(border, run('^a-z0-9_. \t\n\r\v\f-', 1), [
        run(WHITE, 1, 16),
        any(border, run('^a-z', 1), [run('a-z0-9:_-', 1, 40), space, any('=', '>', '/')]),
      ]),
    ],
    match: ['<script>alert(1)</script>', '<ScRiPt src=//h>', '<script/x>', '<script'],
    pass: ['<scripting>', 'script', '<script-name>', '<script by an author>'],
  },
  {
    id: 'xss-script-end',
    category,
    severity,
    message: 'A script element is closed: the value breaks out of a script',
    score: 4,
    aggressive: 5,
    literals: ['</script'],
    after: [run(WHITE, 0, 8), any('>', border, '/')],
    match: ['</script>', "';</script >"],
    pass: ['</scripts>', '/script'],
  },
  {
    id: 'xss-handler-in-tag',
    category,
    severity,
    message: 'An event handler with script code inside a tag',
    score: 5,
    literals: ['on'],
    before: [within(160, ['<', run('a-z!?/', 1)], '>'), run(`${WHITE}/'"\``, 1)],
    after: [handlerName, scriptValue],
    match: [
      '<img src=x onerror=alert(1)>',
      '<svg/onload=confirm`1`>',
      '<a b="c"onclick="go()">',
      '<x onpointermove=(f)(1)>',
    ],
    pass: ['<p>on monday = (x)</p>', '<a title="once">', 'a < b on c=(d)', '<input name="only=1">'],
  },
  {
    id: 'xss-handler-broken-out',
    category,
    severity,
    message: 'An attribute is closed and an event handler follows',
    score: 5,
    literals: ['on'],
    before: [quote, run(`${WHITE}/>`, 0, 8)],
    after: [handlerName, scriptValue],
    match: ['" onfocus=alert(1) x="', "'onclick='go()", '"/onload=confirm()//', '"OnCliCk="(prompt`1`)'],
    pass: ['"once upon a time" (1)', 'x="y" on z', '"one"=1'],
  },
  {
    id: 'xss-handler-start',
    category,
    severity,
    message: 'The value is an event handler with script code',
    score: 5,
    literals: ['on'],
    before: [border, run(`${WHITE}/'"\`>(a-z0-9`, 0, 24), any(border, run(`${WHITE}/'"\`>(`, 1))],
    after: [handlerName, scriptValue],
    match: ['onclick=alert(1)', ' onerror=eval(name)', 'x onload=f()'],
    pass: ['online=1&x=(2)', 'on click = run', 'onboarding'],
  },
  {
    id: 'xss-handler-sink',
    category,
    severity,
    message: 'An event handler that calls a dialog or evaluates code',
    score: 5,
    literals: ['on'],
    before: [any(border, run('^a-z0-9_.$-', 1))],
    after: [
      handlerName,
      space,
      maybe(quote),
      run('({[!;+-', 0, 4),
      within(
        24,
        any(
          ...SINKS.map(sink => [sink, run(')', 0, 2), any('(', '`', '.', '?.')]),
          'javascript:',
          'document.',
          'window.location',
          'location=',
        ),
        WHITE,
      ),
    ],
    match: ['x onfocus=alert(1)', '&lt;img onerror=prompt`1`', ' onload="javascript:f'],
    pass: ['onchange=update(1)', 'only=alert', 'reason=confirm(1)'],
  },
  {
    id: 'xss-handler-known',
    category,
    severity: 'medium',
    message: 'The name of a well-known event handler with a value',
    score: 2,
    aggressive: 5,
    literals: words(`
      onerror onload onclick onmouseover onmouseenter onfocus onblur onfocusin ontoggle onpageshow
      onanimationstart onanimationend ontransitionend onpointerover onpointerenter onwheel onauxclick oncut
      oncopy onpaste onbegin onstart onfinish onhashchange onbeforeinput oninput onkeydown onkeypress
      onkeyup onsubmit onscroll onresize onunload onbeforeunload onmessage ondrag ondrop ondblclick
      onmousemove onmouseout onmousedown oncontextmenu onplay oncanplay onloadstart onloadeddata
      onloadedmetadata onsearch onselect onreadystatechange onafterprint onbeforeprint onpopstate onstorage
      onshow oninvalid
    `),
    before: [any(border, run(`${WHITE}/'"\`;>,`, 1))],
    after: [edge, space, '=', not('='), space, any(quote, run('^ \t\n\r>=', 1))],
    match: ['x onerror=1', '<a onclick="go"'],
    pass: ['onerror is a handler', 'el.onload = f', 'onload'],
  },
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
    after: [run(`${WHITE}`, 0, 4), not('void(0)', 'void 0', ';"', '"', "'"), run('^\n', 1)],
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
      data:text/html data:text/javascript data:application/javascript data:image/svg+xml
      data:application/xml data:text/xml data:application/xhtml+xml data:application/x-javascript
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
    id: 'xss-style-run',
    category,
    severity,
    message: 'A style that runs a script in an old browser',
    score: 5,
    literals: ['expression(', '-moz-binding', 'behavior:', 'behaviour:', '@import'],
    before: [any(within(60, any('style', '{', ':'), '\n'), border), edge],
    after: [
      space,
      any(
        [maybe('url('), maybe(quote), any('//', 'http', 'javascript', 'data:', '\\')],
        [maybe(':'), space, 'url('],
        any(...words('alert document eval this. javascript prompt confirm window')),
      ),
    ],
    match: [
      '<p style="width:expression(alert(1))">',
      "style='-moz-binding:url(//h)'",
      "<style>@import '//h/x.css'",
      '{behavior:url(x.htc)}',
    ],
    pass: ['regular expression(s)', 'good behavior: always', '@import "a.css" in my file'],
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
    id: 'xss-tag-mixed',
    category,
    severity: 'medium',
    message: 'A tag whose slashes stand for spaces, as filters are passed by',
    score: 2,
    aggressive: 4,
    literals: ['<'],
    after: [run('a-z', 2, 16), run('0-9', 0, 2), '/', run('a-z', 2, 24), run('a-z-', 0, 20), '='],
    match: ['<svg/onload=x', '<object/data=y', '<img/src=z'],
    pass: ['<br/>', 'a</b>', '<p class=x>', '<http://h/a=b>'],
  },
  {
    id: 'xss-tag-broken-out',
    category,
    severity,
    message: 'An attribute and its tag are closed and another tag opened',
    score: 3,
    aggressive: 5,
    literals: [
      '"><',
      "'><",
      '`><',
      '"/><',
      "'/><",
      '--><',
      '</title><',
      '</textarea><',
      '</style><',
      '</noscript><',
      '</xmp><',
      '</template><',
      '</iframe><',
      '</select><',
      '"> <',
    ],
    before: [border, run('^<>', 0, 64)],
    after: [run('a-z!/', 1)],
    match: ['"><b>', "x'/><img", '</textarea><svg', 'a"> <i>'],
    pass: ['<a href="x"><b>', 'a > b', '"<b>"'],
  },
  {
    id: 'xss-xml-namespace',
    category,
    severity,
    message: 'Markup that runs as XHTML, XSL or HTC',
    score: 5,
    literals: ['<?xml-stylesheet', '<xsl:', '<?import', '<xml', '<html:', '<x:x', '<!--[if'],
    after: [
      within(
        100,
        any(
          ...phrases(`
          javascript, script, http://www.w3.org/1999/xhtml, document(, system-property, php:function,
          namespace, expression, href, gte ie
        `),
        ),
      ),
    ],
    match: [
      '<?xml-stylesheet href="javascript:f()"?>',
      '<xsl:value-of select="document(\'x\')"/>',
      '<!--[if gte IE 4]><script>',
    ],
    pass: ['<xml>data</xml>', '<xsl:template match="a">', '<!-- if -->'],
  },
  {
    id: 'xss-tag-event-custom',
    category,
    severity: 'medium',
    message: 'An element made to take focus by itself, with a handler',
    score: 4,
    aggressive: 5,
    literals: ['autofocus', 'contenteditable', 'tabindex', 'accesskey'],
    before: [within(80, ['<', letters]), run(`${WHITE}/"'`, 1)],
    after: [within(80, [run(`${WHITE}/"'`, 1), 'on', run('a-z', 3, 24), space, '='])],
    match: ['<input autofocus onfocus=f>', '<x tabindex=1 onfocus=f'],
    pass: ['<input autofocus>', 'autofocus on=1', '<p tabindex="0">on</p>'],
  },
  {
    id: 'xss-unusual-tag',
    category,
    severity: 'medium',
    message: 'An element that only few pages need from a user',
    score: 2,
    aggressive: 4,
    literals: words(`
      <svg <math <marquee <bgsound <isindex <layer <ilayer <xss <noembed <plaintext <xmp <listing <frameset
      <applet <embed <dialog <template <audio <video <details <body <link <style <input <textarea <select
      <button <meta <object <iframe <base
    `),
    after: [tagEnd],
    match: ['<svg>', '<marquee x>', '<body>', '<plaintext/x'],
    pass: ['<bodyguard>', 'a<b', '<svgs>'],
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
    id: 'xss-utf7',
    category,
    severity: 'medium',
    message: 'Markup in UTF-7',
    score: 5,
    literals: ['+adw-', '+aD4-', '+ADwAcw'],
    match: ['+ADw-script+AD4-alert(1)'],
    pass: ['+adwords', 'c++ adw-'],
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
]
