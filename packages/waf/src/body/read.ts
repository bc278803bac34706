/**
 * The reader of requests: every value goes out once, with its place.
 *
 *   1. path, query, cookies, headers
 *   2. the body: type, codings, then the reader of its format
 *   3. what a reader refused is told as running text too, for those who let the refusal pass
 */
import type { InspectRequest, Violation } from '../engine/types.ts'
import { readOpaque } from './binary.ts'
import { decoded } from './content-coding.ts'
import { formatOf, readContentType } from './content-type.ts'
import { checkEntropy, LEAST } from './entropy.ts'
import { type Body, readBody } from './format.ts'
import { readHeaders, valuesOf } from './headers.ts'
import { type Limits, limitsOf, type ReadOptions } from './options.ts'
import { readCookies, readPairs } from './pairs.ts'
import { Trail } from './place.ts'
import { violationOf } from './refusal.ts'
import type { Emit, Place, Reader } from './types.ts'

/**
 * Makes a reader. It is a pure function: what it gives depends on the request and the limits alone.
 * @param place how faults of the options name them
 * @throws ConfigError with every fault of the options.
 */
export function reader(options: ReadOptions = {}, place = 'read'): Reader {
  const limits = limitsOf(options, place)
  return (request, emit) => readRequest(request, limits, emit)
}

function readRequest(request: InspectRequest, limits: Limits, emit: Emit): Violation | null {
  const trail = new Trail()
  const violation = readHead(request, limits, trail, emit)
  const { body } = request
  if (body === undefined || body === null || body.length === 0) {
    const types = valuesOf(request.headers, 'content-type')
    // Some clients send an empty one with every GET: there is nothing that it could be wrong about.
    if (types.length === 1 && types[0] === '') return violation
    return violation ?? attempt(() => void readContentType(types, limits))
  }
  return readContent(request, body, limits, trail, emit) ?? violation
}

// 1
function readHead(request: InspectRequest, limits: Limits, trail: Trail, emit: Emit): Violation | null {
  const { target, headers } = request
  const mark = target.indexOf('?')
  let violation: Violation | null = null
  trail.at('path')
  const path = mark === -1 ? target : target.slice(0, mark)
  if (path.length > 1) emit(trail, path, 'value')
  try {
    if (mark !== -1) readPairs(target.slice(mark + 1), 'query', limits, trail, emit)
  } catch (thrown) {
    violation = violationOf(thrown)
    trail.at('query')
    emit(trail, target.slice(mark + 1), 'text')
  }
  try {
    const cookies = valuesOf(headers, 'cookie')
    if (cookies.length > 0) readCookies(cookies, limits, trail, emit)
  } catch (thrown) {
    violation ??= violationOf(thrown)
  }
  readHeaders(headers, limits, trail, emit)
  return violation
}

// 2
function readContent(
  { headers, bodyTruncated }: InspectRequest,
  raw: Uint8Array,
  limits: Limits,
  trail: Trail,
  emit: Emit,
): Violation | null {
  const truncated = bodyTruncated === true
  let bytes = raw
  let text = ''
  try {
    const type = readContentType(valuesOf(headers, 'content-type'), limits)
    bytes = decoded(raw, valuesOf(headers, 'content-encoding'), limits, truncated)
    text = latin1(bytes)
    const body: Body = { bytes, text, type, truncated }
    readBody(formatOf(type), body, limits, trail, withEntropy(limits, emit))
    return null
  } catch (thrown) {
    const violation = violationOf(thrown)
    // 3
    trail.at('text', 'body')
    readOpaque(text === '' ? latin1(bytes) : text, trail, emit)
    return violation
  }
}

/** Long values that are as good as random are refused; running text and files are not asked. */
function withEntropy(limits: Limits, emit: Emit): Emit {
  if (limits.maxEntropy === Number.POSITIVE_INFINITY) return emit
  return (place: Place, value, kind) => {
    if (value.length > LEAST && kind === 'value') {
      checkEntropy(value, limits.maxEntropy, place.section === 'form', 'entropy-value', place as Trail)
    }
    emit(place, value, kind)
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function attempt(step: () => void): Violation | null {
  try {
    step()
    return null
  } catch (thrown) {
    return violationOf(thrown)
  }
}
