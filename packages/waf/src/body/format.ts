/** Reads a body in the format that its type declares, or that its first bytes make plausible. */
import { isUtf8 } from 'node:buffer'
import { fitsType, isBinary, readOpaque } from './binary.ts'
import type { Format, MediaType } from './content-type.ts'
import { checkEntropy } from './entropy.ts'
import { looksLikeGraphql, readGraphql } from './graphql/read.ts'
import { readJson } from './json/read.ts'
import { readMultipart } from './multipart/read.ts'
import type { Limits } from './options.ts'
import { readPairs } from './pairs.ts'
import type { Trail } from './place.ts'
import { Refusal } from './refusal.ts'
import type { Emit } from './types.ts'
import { readXml } from './xml/read.ts'

/** A body ready to be read. */
export interface Body {
  readonly bytes: Uint8Array
  /** The bytes, one character each. */
  readonly text: string
  readonly type: MediaType | null
  readonly truncated: boolean
}

type Read = (body: Body, limits: Limits, trail: Trail, emit: Emit) => void

/** @throws Refusal for bad form, and beyond a limit. */
export function readBody(format: Format, body: Body, limits: Limits, trail: Trail, emit: Emit): void {
  READERS[format](body, limits, trail, emit)
}

const READERS: Readonly<Record<Format, Read>> = {
  json: readJsonBody,
  'json-lines': readJsonLines,
  graphql: readGraphqlBody,
  xml: ({ text, truncated }, limits, trail, emit) => {
    trail.at('xml')
    readXml(text, limits, trail, emit, truncated)
  },
  multipart: ({ text, type, truncated }, limits, trail, emit) =>
    readMultipart(text, type!, limits, trail, emit, truncated),
  form: (body, limits, trail, emit) => {
    trail.at('form')
    checkText(body, limits, trail, true)
    // Many clients send JSON with the type of a form, and many back ends look at the bytes alone.
    if (startsLikeJson(body.text) && readIfJson(body, limits, trail, emit)) return
    readPairs(body.text, 'form', limits, trail, emit)
  },
  text: (body, limits, trail, emit) => {
    trail.at('text')
    checkText(body, limits, trail, false)
    readUnknown(body, limits, trail, emit)
  },
  binary: (body, limits, trail, emit) => {
    if (!fitsType(body.type!.essence, body.text)) {
      throw new Refusal('type-mismatch', 'header:content-type', 'the body does not begin as its type does')
    }
    // Bytes that are text after all are read like text: the type alone must not hide them.
    if (isBinary(body.text)) {
      trail.at('text')
      readOpaque(body.text, trail, emit)
    } else readUnknown(body, limits, trail, emit)
  },
  unknown: readUnknown,
}

function readJsonBody(body: Body, limits: Limits, trail: Trail, emit: Emit): void {
  trail.at('json')
  checkUtf8(body)
  readJson(body.text, limits, trail, withGraphql(limits, emit), body.truncated)
}

function readJsonLines(body: Body, limits: Limits, trail: Trail, emit: Emit): void {
  trail.at('json')
  checkUtf8(body)
  const { text } = body
  let index = 0
  for (let from = 0; from < text.length; index++) {
    let end = text.indexOf('\n', from)
    const last = end === -1
    if (last) end = text.length
    const line = text.slice(from, end)
    trail.at('json', `json[${index}]`)
    if (line.trim() !== '') readJson(line, limits, trail, emit, last && body.truncated)
    from = end + 1
  }
}

/** A GraphQL document in the member `query` (GraphQL over HTTP, 5.3), in batches too, is read as one. */
function withGraphql(limits: Limits, emit: Emit): Emit {
  let tokens = 0
  return (place, value, kind) => {
    if (kind === 'value' && value.length > 1 && isQueryMember(place as Trail) && looksLikeGraphql(value)) {
      const read = readGraphql(value, limits, place as Trail, emit)
      if (read !== -1) {
        tokens += read
        if (tokens <= limits.maxTokens) return
        throw new Refusal(
          'graphql-tokens',
          place.toString(),
          `more than ${limits.maxTokens} tokens in a batch`,
        )
      }
    }
    emit(place, value, kind)
  }
}

function isQueryMember({ steps, depth }: Trail): boolean {
  if (depth === 1) return steps[0] === 'query'
  return depth === 2 && steps[1] === 'query' && typeof steps[0] === 'number'
}

function readGraphqlBody({ text, truncated }: Body, limits: Limits, trail: Trail, emit: Emit): void {
  trail.at('graphql')
  if (readGraphql(text, limits, trail, emit) !== -1) return
  if (!truncated) throw new Refusal('graphql-syntax', 'graphql', 'it is no GraphQL document')
  emit(trail, text, 'text')
}

/** Without a type, a back end may take the body for anything: it is read as whatever it is in good form, else as text. */
function readUnknown(body: Body, limits: Limits, trail: Trail, emit: Emit): void {
  const { text } = body
  if (startsLikeJson(text) && readIfJson(body, limits, trail, emit)) return
  if (
    /^\s{0,64}<[?A-Za-z]/.test(text.slice(0, 80)) &&
    readIf(() => readXml(text, limits, trail, silent), trail, 'xml')
  ) {
    trail.at('xml')
    return readXml(text, limits, trail, emit)
  }
  if (looksLikeForm(text)) return readPairs(text, 'form', limits, trail, emit)
  trail.at('text')
  readOpaque(text, trail, emit)
}

function readIfJson(body: Body, limits: Limits, trail: Trail, emit: Emit): boolean {
  if (body.truncated || !readIf(() => readJson(body.text, limits, trail, silent), trail, 'json')) return false
  readJsonBody(body, limits, trail, emit)
  return true
}

const silent: Emit = () => {}

/** Tries a reader for what it would refuse. */
function readIf(read: () => void, trail: Trail, section: 'json' | 'xml'): boolean {
  trail.at(section)
  try {
    read()
    return true
  } catch (thrown) {
    if (thrown instanceof Refusal) return false
    throw thrown
  }
}

function startsLikeJson(text: string): boolean {
  for (let i = 0; i < text.length && i < 64; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x20) return code === 0x7b || code === 0x5b
  }
  return false
}

/** No byte that a form would have escaped, and a name with a value at its beginning. */
function looksLikeForm(text: string): boolean {
  return /^[\w%.+~*\-[\]!'(),;:@/?$|{}]{1,512}=/.test(text.slice(0, 514)) && !/[\x00-\x20"<>\\^`]/.test(text)
}

function checkUtf8({ bytes, truncated }: Body): void {
  // A cut may go through a character: up to three bytes of it may stand at the end.
  for (let spare = 0; spare <= (truncated ? 3 : 0); spare++) {
    if (isUtf8(bytes.subarray(0, Math.max(0, bytes.length - spare)))) return
  }
  throw new Refusal('json-utf8', 'json', 'it is not UTF-8')
}

function checkText({ text }: Body, limits: Limits, trail: Trail, encoded: boolean): void {
  if (text.includes('\0')) throw new Refusal('type-mismatch', trail.toString(), 'a null byte in a text')
  // Of a form, base64 in its values cannot be told apart here: a bar that low is for the values alone.
  if (encoded && limits.maxEntropy < 6.1) return
  checkEntropy(text, limits.maxEntropy, encoded, 'entropy-body', trail)
}
