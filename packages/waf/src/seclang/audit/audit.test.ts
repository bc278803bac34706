import { PassThrough, Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { InspectReply, InspectRequest } from '../../engine/types.ts'
import { type AuditEntry, type AuditOptions, seclang } from '../index.ts'

const OK: InspectReply = {
  status: 200,
  headers: [
    ['Content-Type', 'text/plain'],
    ['Set-Cookie', 'sid=hush1'],
  ],
}
const get = (target: string, headers: InspectRequest['headers'] = []): InspectRequest => ({
  method: 'GET',
  target,
  headers: [['Host', 'a.test'], ...headers],
  clientAddress: '192.0.2.7',
})

async function audited(rules: string, options: Partial<AuditOptions> = {}) {
  const entries: AuditEntry[] = []
  const engine = await seclang({ rules, audit: { to: entry => void entries.push(entry), ...options } })
  return { engine, entries }
}

const MATCH = `SecRule ARGS|REQUEST_COOKIES|REQUEST_HEADERS "@contains evil" "id:1,phase:2,pass,log,severity:CRITICAL,\\
  msg:'found %{MATCHED_VAR}',logdata:'data %{MATCHED_VAR}',tag:attack-xss,ver:OWN/1,rev:2"`

test('an entry tells request, reply and the rules that matched', async () => {
  const { engine, entries } = await audited(MATCH)
  engine.inspectExchange(get('/p?q=an+evil+word'), OK)
  expect(entries).toHaveLength(1)
  const { transaction } = entries[0]!
  expect(transaction).toMatchObject({
    client_ip: '192.0.2.7',
    is_interrupted: false,
    request: {
      method: 'GET',
      uri: '/p?q=an+evil+word',
      http_version: '1.1',
      headers: { Host: 'a.test' },
    },
    response: { http_code: 200, headers: { 'Content-Type': 'text/plain', 'Set-Cookie': '[redacted]' } },
    producer: { secrules_engine: 'On' },
    messages: [
      {
        message: 'found an evil word',
        details: {
          ruleId: '1',
          file: '(rules 1)',
          lineNumber: '1',
          severity: '2',
          tags: ['attack-xss'],
          variable: 'ARGS:q',
          value: 'an evil word',
          offset: 3,
          data: 'data an evil word',
          ver: 'OWN/1',
          rev: '2',
        },
      },
    ],
  })
  expect(transaction.unique_id).toMatch(/^\w{10,}$/)
  expect(Math.abs(Date.parse(transaction.time_stamp) - Date.now())).toBeLessThan(60_000)
})

describe('which exchanges', () => {
  const of = async (rules: string, reply: InspectReply = OK, target = '/?q=evil') => {
    const { engine, entries } = await audited(rules)
    engine.inspectExchange(get(target), reply)
    return entries.map(({ transaction }) => (transaction.messages ?? []).map(({ details }) => details.ruleId))
  }
  const rule = (actions: string): string => `SecRule ARGS "@contains evil" "id:1,phase:2,pass,${actions}"`

  test('RelevantOnly: those where a rule matched that is logged', async () => {
    expect(await of(rule('log'))).toEqual([['1']])
    expect(await of(rule('log'), OK, '/?q=fine')).toEqual([])
    expect(await of(rule('nolog'))).toEqual([])
    expect(await of(rule('log,noauditlog'))).toEqual([])
    expect(await of(rule('nolog,auditlog'))).toEqual([['1']])
  })
  test('RelevantOnly: those with a status that is asked for', async () => {
    expect(await of(rule('nolog'), { status: 500, headers: [] })).toEqual([[]])
    expect(await of(rule('nolog'), { status: 404, headers: [] })).toEqual([])
    const status = 'SecAuditLogRelevantStatus "^404$"\n'
    expect(await of(status + rule('nolog'), { status: 404, headers: [] })).toEqual([[]])
    expect(await of(status + rule('nolog'), { status: 500, headers: [] })).toEqual([])
  })
  test('On is all, Off is none, and a rule may choose', async () => {
    expect(await of(`SecAuditEngine On\n${rule('nolog')}`)).toEqual([[]])
    expect(await of(`SecAuditEngine Off\n${rule('log')}`)).toEqual([])
    expect(await of(rule('log,ctl:auditEngine=Off'))).toEqual([])
    expect(await of(rule('nolog,ctl:auditEngine=On'))).toEqual([[]])
  })
  test('a refused request is one of them', async () => {
    const { engine, entries } = await audited('SecRule ARGS "@contains evil" "id:1,phase:1,deny,log"')
    engine.inspectExchange(get('/?q=evil'), { status: 403, headers: [] })
    expect(entries[0]!.transaction).toMatchObject({ is_interrupted: true, response: { http_code: 403 } })
  })
})

test('parts', async () => {
  const { engine, entries } = await audited(`SecAuditLogParts AZ\n${MATCH}`)
  engine.inspectExchange(get('/?q=evil'), OK)
  const { request, response, messages, producer } = entries[0]!.transaction
  expect([request.headers, response.headers, messages, producer]).toEqual(Array(4).fill(undefined))
  const more = await audited(
    `SecAuditLogParts ABZ\nSecAction "id:5,phase:1,pass,nolog,ctl:auditLogParts=+H"\n${MATCH}`,
  )
  more.engine.inspectExchange(get('/?q=evil'), OK)
  expect(more.entries[0]!.transaction.messages).toHaveLength(1)
  expect(more.entries[0]!.transaction.request.headers).toBeDefined()
})

describe('secrets', () => {
  test('never get into an entry', async () => {
    const { engine, entries } = await audited(`SecAuditEngine On\n${MATCH}`, {
      redact: ['x-mine', 'pet'],
      bodies: 1000,
    })
    engine.inspectExchange(
      {
        ...get('/login?token=evilhush1&pet=evilhush2&q=seen&%74oken=evilhush3', [
          ['Authorization', 'Bearer evilhush4'],
          ['Cookie', 'sid=evilhush5; other=evilhush6'],
          ['X-Mine', 'evilhush7'],
          ['Referer', 'https://a.test/?access_token=evilhush8'],
        ]),
        method: 'POST',
        headers: [
          ['Authorization', 'Bearer evilhush4'],
          ['Cookie', 'sid=evilhush5; other=evilhush6'],
          ['X-Mine', 'evilhush7'],
          ['Content-Type', 'application/x-www-form-urlencoded'],
        ],
        body: Buffer.from('password=evilhush9&a=seen'),
      },
      OK,
    )
    const told = JSON.stringify(entries)
    expect(told).not.toContain('hush')
    expect(told).toContain('q=seen')
    expect(entries[0]!.transaction.request.body).toBe('[redacted]')
    expect(entries[0]!.transaction.messages!.length).toBeGreaterThan(0)
  })
  test('bodies are told only when asked for, and bounded', async () => {
    const rules = `SecAuditEngine On\nSecAuditLogParts ABCEFHZ\n${MATCH}
      SecRule RESPONSE_BODY "@contains x" "id:4,phase:4,pass,nolog"`
    const post: InspectRequest = {
      method: 'POST',
      target: '/',
      headers: [['Content-Type', 'application/json']],
      body: Buffer.from('{"a":"long enough"}'),
    }
    const answer = { ...OK, body: Buffer.from('reply body') }
    const without = await audited(rules)
    without.engine.inspectExchange(post, answer)
    expect(JSON.stringify(without.entries)).not.toMatch(/long enough|reply body/)
    const { engine, entries } = await audited(rules, { bodies: 5 })
    engine.inspectExchange(post, answer)
    expect(entries[0]!.transaction.request.body).toBe('{"a":')
    expect(entries[0]!.transaction.response.body).toBe('reply')
  })
})

test('whatever a client sends, an entry is a line of bounded printable ASCII', async () => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const engine = await seclang({ rules: `SecAuditEngine On\n${MATCH}`, audit: { to: stream } })
  const bytes = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 })
    .map(codes => String.fromCharCode(...codes))
  fc.assert(
    fc.property(bytes, bytes, bytes, (target, name, value) => {
      lines.length = 0
      engine.inspectExchange(
        get(`/?evil${target}=evil`, [
          [name, value],
          ['__proto__', value],
        ]),
        {
          status: 200,
          headers: [[name, `${value}\r\nX: 1`]],
        },
      )
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/)
      JSON.parse(lines[0]!)
    }),
    { numRuns: 300 },
  )
  lines.length = 0
  const many = Array.from({ length: 1000 }, (_, i): [string, string] => [`X-${i}`, 'evil'.repeat(1000)])
  engine.inspectExchange(get(`/?q=${'evil'.repeat(10_000)}`, many), OK)
  expect(lines[0]!.length).toBeLessThan(400_000)
})

describe('sinks', () => {
  test('a logger', async () => {
    const info = vi.fn()
    const engine = await seclang({ rules: MATCH, audit: { to: { info } } })
    engine.inspectExchange(get('/?q=evil'), OK)
    expect(info).toHaveBeenCalledWith(
      expect.objectContaining({ transaction: expect.anything() }),
      'waf audit',
    )
  })

  test('one that throws is a warning', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const to = (): never => {
        throw new Error('full')
      }
      const engine = await seclang({ rules: MATCH, audit: { to } })
      expect(engine.inspectExchange(get('/?q=evil'), OK).findings).toHaveLength(1)
      expect(warned).toHaveBeenCalledTimes(1)
    } finally {
      warned.mockRestore()
    }
  })

  test('a stream that nobody reads holds a bounded amount, and one that breaks ends nothing', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const stream = new PassThrough()
      const engine = await seclang({ rules: `SecAuditEngine On\n${MATCH}`, audit: { to: stream } })
      const headers = Array.from({ length: 190 }, (_, i): [string, string] => [`X-${i}`, 'evil'.repeat(128)])
      for (let i = 0; i < 200; i++) engine.inspectExchange(get('/', headers), OK)
      expect(stream.writableLength).toBeLessThan(18 << 20)
      expect(warned.mock.calls.map(([text]) => String(text))).toContain('1 entries of the audit log are lost')
      stream.destroy(new Error('disk full'))
      await new Promise(resolve => setImmediate(resolve))
      engine.inspectExchange(get('/'), OK)
      expect(warned.mock.calls.some(([text]) => String(text).includes('disk full'))).toBe(true)
    } finally {
      warned.mockRestore()
    }
  })

  test.each([
    [{ to: 5 }, /no function, logger or stream/],
    [{}, /no function, logger or stream/],
    [{ to: () => {}, bodies: -1 }, /from 0 to/],
    [{ to: () => {}, redact: 'x' }, /no list/],
    [{ to: () => {}, more: 1 }, /no such option/],
    [5, /no object/],
  ])('%j is refused', async (audit, problem) => {
    await expect(seclang({ rules: MATCH, audit: audit as never })).rejects.toThrow(problem)
  })
})
