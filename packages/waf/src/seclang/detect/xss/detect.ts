/** Decides whether a value can run script when a page shows it. */
import { type HtmlContext, HtmlReader } from './html.ts'
import { ATTRIBUTES, type AttributeKind, EVENTS, TAGS } from './lists.ts'
import { isScriptUrl } from './url.ts'

const CONTEXTS: readonly HtmlContext[] = ['data', 'unquoted', "'", '"', '`']

/** Whether a value is a script injection in any of the places where a page may put it. Linear in the value. */
export function detectXss(value: string): boolean {
  // A tag needs <, an attribute =, and an indirect one both.
  if (!value.includes('<') && !value.includes('=')) return false
  return CONTEXTS.some(context => runsScript(value, context))
}

function runsScript(value: string, context: HtmlContext): boolean {
  const reader = new HtmlReader(value, context)
  let attribute: AttributeKind | null = null
  while (reader.next()) {
    const { part, text } = reader
    if (part === 'value') {
      if (attribute === 'always') return true
      if (attribute === 'url' && isScriptUrl(text)) return true
      if (attribute === 'name' && attributeKind(text) !== null) return true
      attribute = null
      continue
    }
    attribute = part === 'name' ? attributeKind(text) : null
    if (
      part === 'doctype' ||
      (part === 'tag' && isScriptTag(text)) ||
      (part === 'comment' && isScriptComment(text))
    )
      return true
  }
  return false
}

function isScriptTag(text: string): boolean {
  if (text.length < 3) return false
  const name = plain(text)
  return TAGS.has(name) || /^(?:svg|xsl)/i.test(text)
}

function attributeKind(text: string): AttributeKind | null {
  if (text.length < 2) return null
  const name = plain(text)
  if (text.length >= 5) {
    if (name.startsWith('on') && EVENTS.has(name.slice(2))) return 'always'
    if (plain(text.slice(0, 5)) === 'xmlns' || plain(text.slice(0, 5)) === 'xlink') return 'always'
  }
  return ATTRIBUTES.get(name) ?? null
}

/** Comments that old browsers take for something else. */
function isScriptComment(text: string): boolean {
  if (text.includes('`')) return true
  if (text.length > 3 && /^(?:\[if|xml)/i.test(text)) return true
  const start = text.length > 5 ? plain(text.slice(0, 6)) : ''
  return start === 'import' || start === 'entity'
}

/** Lower case, without the NUL bytes that old browsers ignore. */
function plain(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toLowerCase()
}
