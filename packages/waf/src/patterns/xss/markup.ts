/** Cross-site scripting: tags and event handlers. */
import { handlerName, SINKS, scriptValue } from '../context.ts'
import type { Pattern } from '../pattern.ts'
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
  within,
  words,
} from '../tokens.ts'

const category = 'xss'
const severity = 'high'
const WHITE = ' \t\n\r\v\f'
const tagEnd = any(run(`${WHITE}/>`, 1), border)

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
      '<a b="c"onclick="x.go()">',
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
    id: 'xss-cdata-markup',
    category,
    severity,
    message: 'Markup hidden in pieces of CDATA',
    score: 5,
    literals: ['<![cdata[<', '<![cdata[<]]>', ']]><![cdata[', '<![cdata[script', ']]>script'],
    after: [within(40, any('script', 'img', 'alert', '<]]>', 'svg'))],
    match: ['<![CDATA[<]]>SCRIPT<![CDATA[>]]>', '<![CDATA[<script>]]>'],
    pass: ['<![CDATA[text]]>', '<![CDATA[<p>x</p>]]>'],
  },
]
