/** Heads of multipart parts (RFC 7578, 4), read so that no two servers can see different names in them. */
import { checkCharset, type MediaType, parseMediaType } from '../content-type.ts'
import type { Limits } from '../options.ts'
import { Refusal } from '../refusal.ts'

/** What the head of a part says. */
export interface PartHead {
  /** `null` only where the type of the body does not ask for names. */
  readonly name: string | null
  /** `null` for a plain field. */
  readonly filename: string | null
  readonly type: MediaType | null
  /** Fields without a meaning of their own here. */
  readonly others: readonly (readonly [string, string])[]
}

const MOST_LINES = 8
const LINE = /^([!#$%&'*+\-.^_`|~\w]{1,64}):[ \t]*(.*?)[ \t]*$/s
const PARAMETER = /[ \t]*;[ \t]*([\w*.-]{1,32})=(?:"([^"\x00-\x1f\x7f]*)"|([!#$%&*+\-.^_`|~\w]{1,255}))/y
const PLACE = 'multipart'

/** @throws Refusal for whatever a lenient reader could take for something else. */
export function readPartHead(text: string, form: boolean, limits: Limits): PartHead {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text.replaceAll('\r\n', ''))) {
    throw new Refusal('multipart-head', PLACE, 'a control character or a bare line end in the head of a part')
  }
  const lines = text === '' ? [] : text.split('\r\n')
  if (lines.length > MOST_LINES)
    throw new Refusal('multipart-head', PLACE, `more than ${MOST_LINES} fields in a part`)
  let disposition: string | null = null
  let type: MediaType | null = null
  let encoding = false
  const others: [string, string][] = []
  for (const line of lines) {
    const match = LINE.exec(line)
    if (match === null) throw new Refusal('multipart-head', PLACE, 'a folded line, or one that is no field')
    const name = match[1]!.toLowerCase()
    const value = match[2]!
    if (name === 'content-disposition') {
      if (disposition !== null)
        throw new Refusal('multipart-head', PLACE, 'Content-Disposition twice in a part')
      disposition = value
    } else if (name === 'content-type') {
      if (type !== null) throw new Refusal('multipart-head', PLACE, 'Content-Type twice in a part')
      type = partType(value, limits)
    } else if (name === 'content-transfer-encoding') {
      // Deprecated (RFC 7578, 4.7); base64 here would hide the content from whoever does not undo it.
      if (encoding || !/^(?:7bit|8bit|binary)$/i.test(value)) {
        throw new Refusal('multipart-encoding', PLACE, 'a Content-Transfer-Encoding that changes the content')
      }
      encoding = true
    } else others.push([name, value])
  }
  return { ...namesOf(disposition, form), type, others }
}

function partType(value: string, limits: Limits): MediaType {
  const type = parseMediaType(value)
  if (type === null) throw new Refusal('multipart-head', PLACE, 'a Content-Type that not all read alike')
  if (type.essence.startsWith('multipart/'))
    throw new Refusal('multipart-nested', PLACE, 'a multipart body in a part')
  checkCharset(type, limits, PLACE)
  return type
}

function namesOf(
  disposition: string | null,
  form: boolean,
): { name: string | null; filename: string | null } {
  if (disposition === null) {
    if (form) throw new Refusal('multipart-disposition', PLACE, 'a part without Content-Disposition')
    return { name: null, filename: null }
  }
  const kind = /^[\w-]{1,32}/.exec(disposition)?.[0] ?? ''
  if (form && kind.toLowerCase() !== 'form-data') {
    throw new Refusal('multipart-disposition', PLACE, 'a disposition that is not form-data')
  }
  const found = new Map<string, string>()
  let at = kind.length
  while (at < disposition.length) {
    PARAMETER.lastIndex = at
    const match = PARAMETER.exec(disposition)
    if (match === null)
      throw new Refusal('multipart-disposition', PLACE, 'a parameter that not all read alike')
    const name = match[1]!.toLowerCase()
    const value = match[2] ?? match[3]!
    // RFC 7578, 4.2: no `filename*`. It and `filename` may name two files.
    if (name.endsWith('*')) throw new Refusal('multipart-disposition', PLACE, 'an extended parameter')
    if (found.has(name)) throw new Refusal('multipart-disposition', PLACE, 'a parameter twice')
    // Browsers write a quote as %22; where one is escaped, some see the end of the value.
    if (value.endsWith('\\')) throw new Refusal('multipart-disposition', PLACE, 'an escaped quote')
    found.set(name, value)
    at = PARAMETER.lastIndex
  }
  const name = found.get('name') ?? null
  if (name === null && form) throw new Refusal('multipart-disposition', PLACE, 'a part without a name')
  return { name, filename: found.get('filename') ?? null }
}
