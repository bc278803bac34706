import { expect, test } from 'vitest'
import { collect, collectBody } from '../support/collect.ts'

const TYPE = 'multipart/form-data; boundary=XyZ'
/** Lines of one part: its head, an empty line, its content. */
const part = (...lines: string[]) => `--XyZ\r\n${lines.join('\r\n')}\r\n`
const END = '--XyZ--\r\n'
const field = (name: string, value: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, '', value)
const read = (body: string, type = TYPE) => collectBody(type, Buffer.from(body, 'latin1'))
const rule = (body: string, type = TYPE) => read(body, type).violation?.rule ?? null

test('fields, files and their names have places', () => {
  const file = part(
    'Content-Disposition: form-data; name="file"; filename="a b.txt"',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'some text',
  )
  expect(read(field('user[name]', 'x\r\ny') + file + END)).toMatchObject({
    values: [
      'multipart.user[name]=user[name]',
      'multipart.user[name]=x\r\ny',
      'multipart.file=file',
      'multipart.file.filename=a b.txt',
      'multipart.file=some text',
    ],
    kinds: ['key', 'value', 'key', 'value', 'text'],
    violation: null,
  })
})

test('empty fields, empty files and a last line without its end are fine', () => {
  expect(rule(field('a', '') + END)).toBeNull()
  expect(rule(`${field('a', '')}--XyZ--`)).toBeNull()
  const none = part(
    'Content-Disposition: form-data; name="f"; filename=""',
    'Content-Type: application/octet-stream',
    '',
    '',
  )
  expect(rule(none + END)).toBeNull()
  expect(rule('--XyZ\r\nContent-Disposition: form-data; name="a"\r\n\r\n--XyZ--')).toBeNull()
})

test('JSON and XML parts are read as such', () => {
  const json = part(
    'Content-Disposition: form-data; name="meta"',
    'Content-Type: application/json',
    '',
    '{"a":["b"]}',
  )
  expect(read(json + END).values).toEqual([
    'multipart.meta=meta',
    'multipart.meta.a=a',
    'multipart.meta.a[0]=b',
  ])
  const xml = part(
    'Content-Disposition: form-data; name="x"',
    'Content-Type: text/xml',
    '',
    '<!DOCTYPE a><a/>',
  )
  expect(rule(xml + END)).toBe('xml-doctype')
})

test('a script within an image is found', () => {
  const image = part(
    'Content-Disposition: form-data; name="i"; filename="i.gif"',
    '',
    'GIF89a\0\x01\x02<?php system($_GET["c"]);?>\0',
  )
  expect(read(image + END).values.at(-1)).toBe('multipart.i=<?php system($_GET["c"]);?>')
})

test('other fields of a part are told', () => {
  const odd = part('Content-Disposition: form-data; name="a"', 'X-Note: hello', '', 'v')
  expect(read(odd + END).values).toContain('multipart.a.header:x-note=hello')
})

const disposition = (text: string) => part(`Content-Disposition: ${text}`, '', 'v') + END

test.each([
  ['preamble', 'multipart-preamble', `evil\r\n${field('a', 'b')}${END}`],
  ['leading line end', 'multipart-preamble', `\r\n${field('a', 'b')}${END}`],
  ['epilogue', 'multipart-epilogue', `${field('a', 'b')}${END}evil`],
  ['a second body', 'multipart-epilogue', `${field('a', 'b')}${END}${field('a', 'c')}${END}`],
  ['no end', 'multipart-end', field('a', 'b')],
  ['LF only', 'multipart-boundary', (field('a', 'b') + END).replaceAll('\r\n', '\n')],
  [
    'LF before a delimiter',
    'multipart-boundary',
    `${field('a', 'b').slice(0, -2)}\n${field('c', 'd')}${END}`,
  ],
  [
    'LF in a head',
    'multipart-head',
    `--XyZ\r\nContent-Disposition: form-data; name="a"\nX: y\r\n\r\nv\r\n${END}`,
  ],
  ['boundary as a prefix', 'multipart-boundary', `${field('a', 'b')}--XyZz\r\n\r\nc\r\n${END}`],
  ['boundary with padding', 'multipart-boundary', `${field('a', 'b')}--XyZ \r\n\r\nc\r\n${END}`],
  ['folded line', 'multipart-head', part('Content-Disposition: form-data;', ' name="a"', '', 'v') + END],
  ['no colon', 'multipart-head', part('Content-Disposition: form-data; name="a"', 'evil', '', 'v') + END],
  [
    'space before the colon',
    'multipart-head',
    part('Content-Disposition : form-data; name="a"', '', 'v') + END,
  ],
  ['no disposition', 'multipart-disposition', part('X: y', '', 'v') + END],
  ['no head', 'multipart-disposition', `--XyZ\r\n\r\nv\r\n${END}`],
  [
    'disposition twice',
    'multipart-head',
    part('Content-Disposition: form-data; name="a"', 'content-disposition: form-data; name="b"', '', 'v') +
      END,
  ],
  [
    'type twice',
    'multipart-head',
    part('Content-Disposition: form-data; name="a"', 'Content-Type: a/b', 'Content-Type: a/b', '', 'v') + END,
  ],
  ['attachment', 'multipart-disposition', disposition('attachment; name="a"')],
  ['no name', 'multipart-disposition', disposition('form-data')],
  ['name twice', 'multipart-disposition', disposition('form-data; name="a"; name="b"')],
  ['name twice by case', 'multipart-disposition', disposition('form-data; name="a"; NAME="b"')],
  ['filename*', 'multipart-disposition', disposition(`form-data; name="a"; filename*=UTF-8''x.php`)],
  [
    'filename twice over',
    'multipart-disposition',
    disposition(`form-data; name="a"; filename="x"; filename*=UTF-8''x.php`),
  ],
  ['name*', 'multipart-disposition', disposition(`form-data; name*=UTF-8''a`)],
  ['single quotes', 'multipart-disposition', disposition(`form-data; name='a;filename=b'`)],
  ['escaped quote', 'multipart-disposition', disposition('form-data; name="a\\"; filename=\\"x"')],
  ['no equals', 'multipart-disposition', disposition('form-data; name')],
  ['space around equals', 'multipart-disposition', disposition('form-data; name = "a"')],
  ['null in a name', 'multipart-head', disposition('form-data; name="a\0"; filename="x"')],
  [
    'base64',
    'multipart-encoding',
    part('Content-Disposition: form-data; name="a"', 'Content-Transfer-Encoding: base64', '', 'Jw==') + END,
  ],
  [
    'nested',
    'multipart-nested',
    part('Content-Disposition: form-data; name="a"', 'Content-Type: multipart/mixed; boundary=b', '', 'v') +
      END,
  ],
  [
    'charset of a part',
    'charset',
    part('Content-Disposition: form-data; name="a"', 'Content-Type: text/plain; charset=utf-7', '', 'v') +
      END,
  ],
  ['charset of all parts', 'charset', field('_charset_', 'ibm037') + END],
  [
    'long head',
    'multipart-head',
    part('Content-Disposition: form-data; name="a"', `X: ${'y'.repeat(5000)}`, '', 'v') + END,
  ],
  [
    'many fields',
    'multipart-head',
    part(
      'Content-Disposition: form-data; name="a"',
      ...Array.from({ length: 9 }, (_, i) => `X-${i}: y`),
      '',
      'v',
    ) + END,
  ],
  ['many parts', 'parameters', field('a', 'b').repeat(1001) + END],
])('B083: %s', (_, expected, body) => {
  expect(rule(body)).toBe(expected)
})

test.each([
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=a; boundary=b',
  'multipart/form-data; boundary="a b"',
  `multipart/form-data; boundary=${'b'.repeat(71)}`,
])('B083: no boundary in %s', type => {
  expect(rule(field('a', 'b') + END, type)).toMatch(/^(?:multipart-boundary|content-type)$/)
})

test('a quoted boundary is the same boundary, one of another case is not', () => {
  expect(rule(field('a', 'b') + END, 'multipart/form-data; boundary="XyZ"')).toBeNull()
  expect(rule(field('a', 'b') + END, 'multipart/form-data; boundary=xyz')).toBe('multipart-preamble')
})

test('B085: a body that was cut off is read up to the cut, wherever it is', () => {
  const body = Buffer.from(field('first', 'evil') + field('second', 'more of it') + END)
  for (let length = 60; length <= body.length; length++) {
    const { values, violation } = collect({
      headers: [['Content-Type', TYPE]],
      body: body.subarray(0, length),
      bodyTruncated: true,
    })
    expect([length, violation]).toEqual([length, null])
    expect(values.join()).toContain('evil')
  }
})
