import fc from 'fast-check'
import { expect, test } from 'vitest'
import { collectBody, ruleOf } from '../support/collect.ts'

const xml = (body: string | Uint8Array) => collectBody('application/xml', body)

test('elements, attributes and text have places', () => {
  expect(
    xml('<?xml version="1.0" encoding="UTF-8"?>\n<order id="7"><item>tea &amp; milk</item><x/></order>\n'),
  ).toMatchObject({
    values: [
      'xml.order=order',
      'xml.order@id=id',
      'xml.order@id=7',
      'xml.order.item=item',
      'xml.order.item=tea & milk',
      'xml.order.x=x',
    ],
    violation: null,
  })
})

test('text is told as it is read, joined across comments and CDATA', () => {
  expect(xml('<a>sel<!--x-->ect <![CDATA[<b>]]>&#x27;&#39;</a>').values).toEqual([
    'xml.a=a',
    'xml.a#comment=x',
    "xml.a=select <b>''",
  ])
})

test('instructions are told as text', () => {
  expect(xml('<?xml-stylesheet href="http://x/"?><a/>').values[0]).toBe(
    'xml?=xml-stylesheet href="http://x/"',
  )
})

test('SOAP and SVG are XML', () => {
  const soap = '<s:Envelope xmlns:s="urn:x"><s:Body><q>1</q></s:Body></s:Envelope>'
  expect(collectBody('application/soap+xml; charset=utf-8', soap).values.at(-1)).toBe(
    'xml.s:Envelope.s:Body.q=1',
  )
  expect(collectBody('image/svg+xml', '<svg onload="x"/>').values).toContain('xml.svg@onload=x')
})

test.each([
  ['xml-doctype', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
  ['xml-doctype', '<!DOCTYPE html><a/>'],
  ['xml-doctype', '<a><!ENTITY x "y"></a>'],
  ['xml-entity', '<a>&x;</a>'],
  ['xml-entity', '<a>a & b</a>'],
  ['xml-entity', '<a>&#0;</a>'],
  ['xml-entity', '<a b="&nbsp;"/>'],
  ['xml-encoding', '<?xml version="1.0" encoding="UTF-7"?><a/>'],
  ['xml-encoding', '\xff\xfe<\0a\0'],
  ['xml-syntax', '<a>'],
  ['xml-syntax', '<a></b>'],
  ['xml-syntax', '</a>'],
  ['xml-syntax', '<a/><b/>'],
  ['xml-syntax', 'text<a/>'],
  ['xml-syntax', '<a/>text'],
  ['xml-syntax', '<a b=c/>'],
  ['xml-syntax', '<a b="1"c="2"/>'],
  ['xml-syntax', '<a b="<"/>'],
  ['xml-syntax', '<a b="1/>'],
  ['xml-syntax', '<a><!-- </a>'],
  ['xml-syntax', '< a/>'],
  ['xml-syntax', ''.padEnd(3)],
  ['xml-attributes', '<a b="1" b="2"/>'],
  ['xml-depth', '<a>'.repeat(33)],
])('%s: %j', (rule, body) => {
  const bytes = body.includes('\xff') ? Buffer.from(body, 'latin1') : body
  expect(ruleOf('text/xml', bytes)).toBe(rule)
})

test('elements and attributes are counted', () => {
  expect(ruleOf('text/xml', '<a b="1"><c/></a>', { maxKeys: 3 })).toBeNull()
  expect(ruleOf('text/xml', '<a b="1"><c/></a>', { maxKeys: 2 })).toBe('xml-keys')
})

test('any bytes end in values or a refusal', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '/',
    'a',
    '"',
    '=',
    ' ',
    '&',
    ';',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '?>',
    '&#',
    'x',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), pieces => {
      const body = `<a>${pieces.join('')}</a>`
      expect(['string', 'object']).toContain(typeof ruleOf('text/xml', body))
    }),
    { numRuns: 1000 },
  )
})
