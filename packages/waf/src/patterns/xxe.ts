/** Entities, document types, includes and style sheets of XML. */
import type { Pattern } from './pattern.ts'
import { any, border, gap, maybe, not, quote, run, space, within, words } from './tokens.ts'

export const xxe: readonly Pattern[] = [
  {
    id: 'xxe-entity',
    category: 'xxe',
    severity: 'critical',
    message: 'A declaration of an XML entity',
    score: 5,
    literals: ['<!entity'],
    after: [any(gap, '%')],
    match: [
      '<!ENTITY x SYSTEM "file:///etc/passwd">',
      '<!ENTITY % d PUBLIC "a" "http://h/x.dtd">',
      '<!ENTITY lol "lol">',
    ],
    pass: ['<!entities>', 'an <entity'],
  },
  {
    id: 'xxe-doctype-external',
    category: 'xxe',
    severity: 'critical',
    message: 'A document type that is fetched from elsewhere or defined in the document',
    score: 5,
    literals: ['<!doctype'],
    after: [
      gap,
      run('a-z0-9_:.-', 1, 40),
      space,
      any(
        '[',
        ['system', gap, quote],
        ['public', gap, quote, not('-//w3c', '-/w3c', '-//wapforum', '-/wapforum', '-//ietf', '-/ietf')],
      ),
    ],
    match: [
      '<!DOCTYPE r [<!ELEMENT r ANY>',
      '<!DOCTYPE r SYSTEM "http://h/x">',
      '<!DOCTYPE r PUBLIC "x" "http://h">',
    ],
    pass: ['<!DOCTYPE html>', '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN">'],
  },
  {
    id: 'xxe-include',
    category: 'xxe',
    severity: 'critical',
    message: 'An inclusion of another document by XInclude',
    score: 5,
    literals: ['<xi:include', 'http://www.w3.org/2001/XInclude', ':include href='],
    after: [run('^\n', 1)],
    match: [
      '<xi:include parse="text" href="file:///etc/passwd"/>',
      '<x xmlns:xi="http://www.w3.org/2001/XInclude">',
    ],
    pass: ['include href', 'XInclude is a standard'],
  },
  {
    id: 'xxe-schema-location',
    category: 'xxe',
    severity: 'high',
    message:
      'A schema location that holds one address in place of a name and an address: made for a reader that fetches it',
    score: 5,
    literals: ['schemalocation'],
    after: [
      space,
      '=',
      space,
      quote,
      any('http', 'ftp', 'file', 'jar', '//'),
      run('^ \t\n\r"\'', 1, 200),
      space,
      quote,
    ],
    match: ['xsi:schemaLocation="http://h/x"', "xsi:noNamespaceSchemaLocation='ftp://h/x.xsd'"],
    pass: ['xsi:schemaLocation="http://a/ns http://a/ns.xsd"', 'schemaLocation="a.xsd"'],
  },
  {
    id: 'xxe-xslt',
    category: 'xxe',
    severity: 'critical',
    message: 'A style sheet that reads files, tells versions or calls functions',
    score: 5,
    literals: words(`
      xsl:value-of xsl:include xsl:import xsl:copy-of xmlns:php= xmlns:rt= xmlns:ob= msxsl:script
      xsl:document exsl:document system-property( unparsed-text( xmlns:date=
    `),
    after: [
      within(
        100,
        any(
          ...words(
            'system-property document( php:function file: http: java xsl:v unparsed-text language runtime ftp:',
          ),
        ),
      ),
    ],
    match: [
      '<xsl:value-of select="system-property(\'xsl:version\')"/>',
      '<xsl:include href="file:///x"/>',
      'xmlns:rt="http://xml.apache.org/xalan/java/java.lang.Runtime"',
    ],
    pass: ['<xsl:value-of select="title"/>', 'xsl:import is'],
  },
  {
    id: 'xxe-system-identifier',
    category: 'xxe',
    severity: 'high',
    message: 'A system identifier that names a file or an address',
    score: 5,
    literals: ['system', 'public'],
    before: [within(80, any('<!entity', '<!doctype', '<!notation', '% ', '<!attlist'))],
    after: [
      gap,
      quote,
      any(
        'file:',
        'http:',
        'https:',
        'ftp:',
        'php:',
        'jar:',
        'expect:',
        'gopher:',
        'netdoc:',
        'data:',
        '/',
        '\\\\',
        'c:',
      ),
    ],
    match: ['<!DOCTYPE a SYSTEM "file:///x">', "<!ENTITY b SYSTEM 'http://h'>"],
    pass: ['the system "file"', 'public "http"'],
  },
  {
    id: 'xxe-schema-attribute',
    category: 'xxe',
    severity: 'high',
    message:
      'A schema location with one address in place of a name and an address: made for a reader that fetches it',
    score: 5,
    literals: words('http:// https:// ftp:// file:/ jar: netdoc:'),
    places: ['xml*schemalocation'],
    before: [border, space],
    after: [run('^ \t\r\n', 1, 300), space, border],
    match: ['http://h.example/x'],
    pass: ['http://a.example/ns http://a.example/ns.xsd', 'a.xsd'],
  },
  {
    id: 'xxe-file-link',
    category: 'xxe',
    severity: 'high',
    message: 'A link of XML or SVG to a file of the server',
    score: 5,
    literals: ['xlink:href', 'xml:base', 'parse="text"', "parse='text'", '<image href', 'xsi:schemalocation'],
    after: [
      space,
      maybe('='),
      space,
      maybe('href', space, '=', space),
      maybe(quote),
      any('file:', 'expect:', 'php:', 'jar:', 'netdoc:', '/etc/', 'text:/', 'gopher:', 'msl:'),
    ],
    match: ['<image xlink:href="file:///etc/passwd"/>', 'xlink:href="expect://id"'],
    pass: ['xlink:href="#icon"', 'xlink:href="a.png"'],
  },
]
