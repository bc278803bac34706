/** Replies made of what is stored. */
import { EditableReply, HeaderList, KeptBody, type Reply } from '@postern/core'
import { isNotModified, notModifiedFields, rangeHolds } from '../policy/conditional.ts'
import { contentRange, covers, lengthOf, type Part, parseRange, resolveRange } from '../policy/range.ts'
import type { Question } from '../policy/request.ts'
import { ageOf, type Entry } from '../store/entry.ts'

/** True when an entry holds all that a request wants. Only a part can lack something. */
export function holds(entry: Entry, question: Question, method: string): boolean {
  const { part } = entry
  if (part === null) return true
  if (question.range === undefined || method === 'HEAD') return false
  if (question.ifRange !== undefined && !rangeHolds(question.ifRange, entry)) return false
  const wanted = wantedPart(question, part.total)
  return wanted !== null && covers(part, wanted)
}

/** The reply from an entry: the whole, a part, or 304. */
export function answerFrom(entry: Entry, question: Question, method: string, now: number): Reply {
  const { raw, body, part } = entry
  const age = String(Math.floor(ageOf(entry, now) / 1000))
  if (
    (question.ifNoneMatch !== undefined || question.ifModifiedSince !== undefined) &&
    (entry.status === 200 || part !== null) &&
    isNotModified(question.ifNoneMatch, question.ifModifiedSince, entry)
  ) {
    const fields = notModifiedFields(raw)
    fields.push('Age', age)
    return { status: 304, headers: new HeaderList(fields), body: null }
  }
  const headers = new HeaderList([...raw, 'Age', age])
  if (method === 'HEAD') return { status: entry.status, headers, body: null }
  if (part !== null) return partOf(headers, body!.bytes, part, wantedPart(question, part.total)!)
  if (question.range !== undefined && entry.status === 200 && body !== null) {
    const reply = rangeOf(entry, headers, body.bytes, question)
    if (reply) return reply
  }
  const reply = new EditableReply(entry.status, headers, body)
  reply.prepared = entry.slot?.prepared ?? undefined
  return reply
}

function wantedPart(question: Question, total: number): Part | null {
  const spec = parseRange(question.range!)
  return spec && resolveRange(spec, total)
}

/** `null`: the whole is the answer. */
function rangeOf(entry: Entry, headers: HeaderList, body: Uint8Array, question: Question): Reply | null {
  if (question.ifRange !== undefined && !rangeHolds(question.ifRange, entry)) return null
  const spec = parseRange(question.range!)
  if (spec === null) return null
  const wanted = resolveRange(spec, body.length)
  if (wanted !== null)
    return partOf(headers, body, { first: 0, last: body.length - 1, total: body.length }, wanted)
  headers.set('Content-Range', `bytes */${body.length}`)
  headers.set('Content-Length', '0')
  return { status: 416, headers, body: null }
}

function partOf(headers: HeaderList, body: Uint8Array, have: Part, wanted: Part): Reply {
  headers.set('Content-Range', contentRange(wanted))
  headers.set('Content-Length', String(lengthOf(wanted)))
  const from = wanted.first - have.first
  return { status: 206, headers, body: new KeptBody(body.subarray(from, from + lengthOf(wanted))) }
}
