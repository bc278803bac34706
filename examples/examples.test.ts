/** Each example as a process, asked what its last lines say. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, ask1 } from './support/clients.ts'
import { curlLinesOf, type Example, hasCurl, shell, start, stopAll } from './support/run.ts'

afterAll(stopAll)

interface Case {
  name: string
  /** What each curl line at the end prints. */
  lines: RegExp[]
  /** The same and more with Node's client: path, what is sent, status, what the answer holds. */
  asks: [path: string, ask: Ask, status: number, text: RegExp][]
}

const json = { 'Content-Type': 'application/json' }
const inHost: Case['asks'] = [
  ['/hello/you', {}, 200, /^{"hello":"you"}$/],
  ['/notes', { method: 'POST', headers: json, body: '{"a":1}' }, 201, /^{"noted":{"a":1}}$/],
  ['/echo', { method: 'POST', headers: json, body: '{"a":1}' }, 200, /"bytes": 7\b/],
  ['/echo', { method: 'PUT', headers: { 'Content-Type': 'x/y' }, body: 'abc' }, 200, /"bytes": 3\b/],
  ['/echo?x=%2f', {}, 200, /"target": "\/echo\?x=%2f"/],
  ['/echo', {}, 200, /"X-Forwarded-For: 127\.0\.0\.1"/],
  [`/echo?${'x'.repeat(9000)}`, {}, 414, /uri too long/],
  ['/healthz', {}, 200, /^ok$/],
  ['/nothing', {}, 404, /demo origin has no such page/],
]
const inHostLines = [/ 200 OK\r\n[\s\S]*{"hello":"you"}$/, / 200 OK\r\n[\s\S]*"bytes": 3\b/, / 405 /]

const policy = (name: string): Record<string, string> => ({ Host: name })
const cases: Case[] = [
  { name: 'express.mjs', lines: inHostLines, asks: inHost },
  { name: 'fastify.mjs', lines: inHostLines, asks: inHost },
  {
    name: 'custom-edge.mjs',
    lines: [
      / 200 OK\r\n[\s\S]*user 7, request [0-9a-f]{32}\n$/,
      /\r\nContent-Security-Policy: default-src 'self'\r\n/i,
      / 421 Misdirected/,
      / 405 [\s\S]*\r\nAllow: GET, HEAD\r\n/,
      /\r\nAccess-Control-Allow-Origin: https:\/\/app\.example\.com\r\n/i,
      / 413 /,
      /^(200 ){10}[\s\S]*429 /,
    ],
    asks: [
      ['/users/a%20b', {}, 200, /^user a b, request /],
      ['/users/7', { method: 'POST' }, 405, /./],
      ['/', {}, 200, /The edge is up/],
      ['/', { headers: policy('admin.localhost') }, 200, /The edge is up/],
      ['/', { headers: policy('elsewhere.example') }, 421, /misdirected/],
      ['/', { method: 'DELETE' }, 405, /method not allowed/],
      ['/echo', { method: 'POST', body: 'x'.repeat(1024) }, 200, /"bytes": 1024\b/],
      ['/echo', { method: 'POST', body: 'x'.repeat(1025) }, 413, /body too large/],
      ['/healthz', { headers: policy('elsewhere.example') }, 200, /^ok$/],
    ],
  },
  {
    name: 'encodings.mjs',
    lines: [
      /\r\nContent-Encoding: [\s\S]*<h1>\/page<\/h1>[\s\S]*<!-- staging -->\n$/i,
      /\r\nContent-Encoding: br\r\n[\s\S]*<h1>\/coded<\/h1>[\s\S]*<!-- staging -->\n$/i,
      /\r\nETag: W\/"one"\r\n[\s\S]*<!-- staging -->\n$/i,
      /\r\nContent-Encoding: gzip\r\n/i,
      /^(?![\s\S]*Content-Encoding)[\s\S]*<h1>\/login/i,
    ],
    asks: [
      ['/page', {}, 200, /<!-- staging -->\n$/],
      ['/login', {}, 200, /<!-- staging -->\n$/],
    ],
  },
  {
    name: 'opentelemetry.mjs',
    lines: [
      /^the origin's parent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01\n$/,
      /^the origin's parent: 00-/,
      /CLIENT GET {[^}]*"error.type":"connect-refused"[\s\S]*"http.request.resend_count":1[\s\S]*SERVER GET \/users\/:id {[^}]*"url.query":"token=\[redacted\]"/,
    ],
    asks: [
      ['/nothing', {}, 200, /parent: 00-/],
      ['/nothing', {}, 200, /parent: 00-/],
      ['/spans', {}, 200, /SERVER GET {/],
    ],
  },
  {
    name: 'cache.mjs',
    lines: [
      /\r\nCache-Status: edge; fwd=uri-miss; stored\r\n[\s\S]*answer \d+\n$/,
      /\r\nCache-Status: edge; hit; ttl=\d+\r\n[\s\S]*answer \d+\n$/,
      /\r\nCache-Status: edge; fwd=uri-miss; detail=private\r\n/,
      /^{"entries":1,"bytes":\d+,"fetches":0}\n$/,
      /^{"purged":1}\n$/,
      /\r\nCache-Status: edge; fwd=uri-miss; stored\r\n/,
    ],
    asks: [
      ['/private', {}, 200, /^answer \d+\n$/],
      ['/cache', {}, 200, /^{"entries":0,/],
      ['/cache', { method: 'POST', body: '{"all":true}' }, 415, /json expected/],
      ['/cache', { method: 'POST', headers: json, body: '{"all":true}' }, 200, /^{"purged":0}\n$/],
      ['/page', { method: 'TRACE' }, 405, /./],
    ],
  },
]

describe.each(cases)('$name', ({ name, lines, asks }) => {
  let example: Example
  beforeAll(async () => {
    example = await start(name)
  })

  test.each(asks)('%.40s', async (path, ask, status, text) => {
    const answer = await ask1(example.url + path, ask)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(text)
  })

  test.skipIf(!hasCurl && !process.env.CI)(
    `its curl lines${hasCurl ? '' : ' (skipped: no curl with HTTP/2)'}`,
    async () => {
      const commands = curlLinesOf(name, example.url)
      expect(commands).toHaveLength(lines.length)
      for (const [index, command] of commands.entries()) {
        expect(await shell(command), command).toMatch(lines[index]!)
      }
    },
  )
})
