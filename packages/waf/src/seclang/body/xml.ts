import { Entry } from '../engine/form.ts'
import { utf8Bytes } from '../transform/bytes.ts'
import { type BodyLimits, emptyBody, type ParsedBody } from './body.ts'

/** Elements inside one another. */
const MAX_DEPTH = 500

/**
 * Reads XML leniently into its texts and attribute values. Nothing outside the body is ever read: a document type with
 * declarations is an error, and entities other than the five predefined and numeric ones stay as they are written.
 */
export function readXml(text: string, limits: BodyLimits): ParsedBody {
  const body = emptyBody()
  let all = ''
  let depth = 0
  let at = 0
  const full = (): boolean => {
    if (body.xmlAttributes.length + body.xmlText.length < limits.entries) return false
    body.error = `more than ${limits.entries} XML nodes`
    return true
  }
  while (at < text.length && body.error === '') {
    const open = text.indexOf('<', at)
    const run = text.slice(at, open === -1 ? text.length : open)
    if (run.trim() !== '') {
      if (depth === 0) body.error = 'text outside the root element'
      all += decodeEntities(run)
    }
    if (open === -1) break
    if (text.startsWith('<!--', open)) at = after(text, '-->', open + 4)
    else if (text.startsWith('<![CDATA[', open)) {
      const end = text.indexOf(']]>', open)
      all += text.slice(open + 9, end === -1 ? text.length : end)
      at = end === -1 ? text.length : end + 3
    } else if (text.startsWith('<?', open)) at = after(text, '?>', open + 2)
    else if (text.startsWith('<!', open)) {
      const end = endOfTag(text, open + 2)
      const doctype = text.slice(open, end)
      // Entities of its own stand for texts that nobody has seen yet, and other readers would fetch them from somewhere.
      if (doctype.includes('[') || doctype.includes('<', 2)) body.error = 'a document type with declarations'
      if (end === text.length) body.error = 'a document type does not end'
      // Read or not, what it says is looked at.
      all += doctype
      if (body.error !== '') all += text.slice(end)
      at = end + 1
    } else if (text[open + 1] === '/') {
      depth -= 1
      at = after(text, '>', open + 2)
      if (depth < 0) body.error = 'a tag is closed that was not open'
    } else {
      const end = endOfTag(text, open + 1)
      const tag = text.slice(open + 1, end)
      if (!/^[A-Za-z_:\x80-\xff]/.test(tag)) body.error = 'a tag without a name'
      if (full()) break
      readAttributes(tag, body)
      if (!tag.endsWith('/')) depth += 1
      if (depth > MAX_DEPTH) body.error = `more than ${MAX_DEPTH} elements inside one another`
      if (end === text.length) body.error = 'a tag is not closed'
      at = end + 1
    }
  }
  if (depth !== 0 && body.error === '') body.error = 'an element is not closed'
  if (all !== '') body.xmlText.push(new Entry('', all))
  return body
}

function readAttributes(tag: string, body: ParsedBody): void {
  for (const found of tag.matchAll(
    /[\t-\r ]([^\t-\r =<>"'/]+)[\t-\r ]*=[\t-\r ]*(?:"([^"]*)"|'([^']*)'|([^\t-\r "'<>]+))/g,
  )) {
    body.xmlAttributes.push(new Entry(found[1]!, decodeEntities(found[2] ?? found[3] ?? found[4] ?? '')))
  }
}

/** The `>` that ends a tag: not one inside quotes. */
function endOfTag(text: string, from: number): number {
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '>') return at
  }
  return text.length
}

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/g,
    (whole, hex, decimal, name) => {
      if (name !== undefined) return NAMED[name as string]!
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16)
      return code > 0x10ffff ? (whole as string) : utf8Bytes(String.fromCodePoint(code))
    },
  )
}
