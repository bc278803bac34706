/** Requests for `cost`. */
import type { InspectRequest } from '../engine/types.ts'
import { parseGoFtw } from '../seclang/testing/go-ftw.ts'
import { bytesOf, type FtwTest } from '../seclang/testing/types.ts'
import { utf8Bytes } from '../seclang/transform/bytes.ts'
import { parseCorpus, requestOf } from '../testing/corpus.ts'
import { line, UsageError } from './output.ts'
import { fromBytes } from './request.ts'

const BROWSER: readonly (readonly [string, string])[] = [
  ['Host', 'www.example.com'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.5'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Cookie', 'session=5c1f6e0a9b7d4c2e; theme=dark'],
]

const body = (type: string, text: string): Pick<InspectRequest, 'headers' | 'body'> => ({
  headers: [...BROWSER, ['Content-Type', type], ['Content-Length', String(text.length)]],
  body: Buffer.from(text),
})

/** A page, a form, and a call of an API. */
export const USUAL: readonly InspectRequest[] = [
  { method: 'GET', target: '/products/7?page=2&sort=price&q=red+shoes&lang=en', headers: BROWSER },
  {
    method: 'POST',
    target: '/contact',
    ...body(
      'application/x-www-form-urlencoded',
      'name=Ann+Lee&email=ann%40example.com&text=When+is+my+order+coming%3F+It+has+been+two+weeks+now.',
    ),
  },
  {
    method: 'POST',
    target: '/api/orders',
    ...body(
      'application/json',
      JSON.stringify({
        customer: 4711,
        items: [
          { id: 'a-17', n: 2 },
          { id: 'b-3', n: 1 },
        ],
        note: 'ring twice',
      }),
    ),
  },
]

/**
 * Requests of a file: a raw request, tests, or JSON lines.
 * @throws UsageError for a file that is none of these.
 */
export function requestsIn(file: string, bytes: Uint8Array): InspectRequest[] {
  const text = Buffer.from(bytes).toString('utf8')
  try {
    if (/\.ya?ml$/.test(file)) return parseGoFtw(text).flatMap(ofTest)
    if (!/^\s*\{/.test(text)) return [fromBytes(bytes)]
    const lines = text.split('\n').filter(one => one.trim() !== '')
    if ((JSON.parse(lines[0]!) as Partial<FtwTest>).stages !== undefined)
      return lines.flatMap(one => ofTest(JSON.parse(one) as FtwTest))
    return parseCorpus(text).map(requestOf)
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError(`${line(file)}: ${line((error as Error).message)}`)
  }
}

function ofTest({ stages }: FtwTest): InspectRequest[] {
  return stages.map(({ input }) => {
    const head = input.parsed ?? { ...input, headers: input.sent!.headers, body: input.sent!.body }
    return {
      method: utf8Bytes(head.method),
      target: utf8Bytes(head.uri),
      protocol: head.version,
      headers: head.headers.map(([name, value]) => [utf8Bytes(name), utf8Bytes(value)] as const),
      body: bytesOf(head.body),
    }
  })
}
