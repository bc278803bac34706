/** The server behind the rules as the tests expect it: albedo. It answers `POST /reflect` with what the body says. */
import type { FtwBackend, FtwInput } from './types.ts'
import { bytesOf } from './types.ts'

const NOTHING: FtwBackend = { status: 200, headers: {}, body: '' }

/** The answer to a request. */
export function backendFor({ parsed, method, uri, sent }: FtwInput): FtwBackend {
  return answerOf(parsed?.method ?? method, parsed?.uri ?? uri, bytesOf(parsed?.body ?? sent?.body ?? null))
}

/** The answer to a method, a target and a body. */
export function answerOf(method: string, target: string, body: Uint8Array): FtwBackend {
  if (method !== 'POST' || !/^\/reflect(?:[/?]|$)/.test(target)) return NOTHING
  let wish: { status?: unknown; headers?: unknown; body?: unknown; encodedBody?: unknown }
  try {
    wish = JSON.parse(Buffer.from(body).toString()) as typeof wish
  } catch {
    return { status: 400, headers: {}, body: 'Invalid JSON in request body' }
  }
  const { status = 200, headers, body: text, encodedBody } = wish ?? {}
  if (typeof status !== 'number' || status < 100 || status > 599)
    return { status: 400, headers: {}, body: 'Invalid status code' }
  return {
    status,
    headers: fieldsOf(headers),
    body:
      typeof text === 'string' && text !== ''
        ? { text }
        : typeof encodedBody === 'string'
          ? { base64: encodedBody }
          : '',
  }
}

function fieldsOf(headers: unknown): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) return {}
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
