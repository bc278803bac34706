/**
 * Runs tests of rules end to end: the bytes of each go over a socket to an edge with `waf()`, which forwards to an origin on
 * another socket. What the edge refuses before a rule runs is told apart from what rules decide.
 */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type App, attach, pipeline, proxy, reply, upstream } from '@postern/core'
import { waf } from '../../filter/waf.ts'
import { programOf, type RuleEngine } from '../api/engine.ts'
import { RuleFollowing } from '../api/follow.ts'
import type { RuleMatch } from '../engine/transaction.ts'
import { utf8Bytes } from '../transform/bytes.ts'
import { answerOf } from './backend.ts'
import { verdict } from './ftw.ts'
import { bytesOf, type FtwInput, type FtwOutput, type FtwTest } from './types.ts'
import { bytesOfRequest } from './wire.ts'

/** What came of a test: `refused` when the edge answered before a rule ran, and the test did not ask for that. */
export interface EdgeResult {
  readonly outcome: 'passed' | 'failed' | 'refused'
  /** Why it failed, or with which status the edge refused. */
  readonly detail: string
}

/** An edge with an engine of rules, and an origin behind it. */
export interface TestEdge {
  run(test: FtwTest): Promise<EdgeResult>
  close(): Promise<void>
}

/** Milliseconds for an answer. */
const PATIENCE = 5000

/** Opens both on free ports of 127.0.0.1. */
export async function openEdge(engine: RuleEngine): Promise<TestEdge> {
  let last: RuleFollowing | null = null
  const watched = {
    name: engine.name,
    inspect: engine.inspect,
    looksAtReplies: true,
    follow: (...given: Parameters<RuleEngine['follow']>): RuleFollowing => {
      last = new RuleFollowing(programOf(engine)!, given[0], given[1] ?? null, null)
      return last
    },
  }
  let ended = (): void => {}
  const behind = await serve(originApp())
  const target = upstream({ name: 'origin', targets: [`http://127.0.0.1:${behind.port}`] })
  const front = await serve(
    pipeline()
      .use({ name: 'note', onDone: () => ended() })
      .use(waf(watched, { maxBody: 13_107_200 }))
      .handle(proxy(target)),
  )

  const exchange = async (
    bytes: Uint8Array,
  ): Promise<{ status: number | null; matches: readonly RuleMatch[] | null }> => {
    last = null
    const done = new Promise<void>(resolve => {
      ended = resolve
    })
    const status = await send(front.port, bytes)
    // The filter looks at the end of the exchange after its answer has gone out.
    if (last !== null) await done
    return { status, matches: (last as RuleFollowing | null)?.matches ?? null }
  }

  return {
    async run({ stages }) {
      for (const { input, output } of stages) {
        const { status, matches } = await exchange(wireOf(input))
        const result = judge(output, status, matches)
        if (result.outcome !== 'passed') return result
      }
      return { outcome: 'passed', detail: '' }
    },
    async close() {
      await front.close()
      await behind.close()
      await target.destroy()
    },
  }
}

function judge(output: FtwOutput, status: number | null, matches: readonly RuleMatch[] | null): EdgeResult {
  if (output.expectError && (status === null || status >= 400)) return { outcome: 'passed', detail: '' }
  const wanted = output.status === null ? null : [output.status].flat()
  if (matches === null) {
    // Refused before any rule: right where the test asks for that, or for nothing but silence of rules.
    const fits = status !== null && (wanted?.includes(status) ?? false)
    if (fits && output.expectIds.length === 0) return { outcome: 'passed', detail: '' }
    return { outcome: 'refused', detail: status === null ? 'no answer' : `answered ${status}` }
  }
  const problem = verdict(output, matches)
  if (problem !== null) return { outcome: 'failed', detail: problem }
  if (wanted !== null && (status === null || !wanted.includes(status)))
    return { outcome: 'failed', detail: `status ${status ?? 'none'} instead of ${wanted.join(', ')}` }
  return { outcome: 'passed', detail: '' }
}

function wireOf(input: FtwInput): Uint8Array {
  if (input.wire !== undefined) return Buffer.from(input.wire, 'base64')
  const { headers, body } = input.sent!
  return bytesOfRequest({
    method: utf8Bytes(input.method),
    target: utf8Bytes(input.uri),
    protocol: input.version,
    headers: headers.map(([name, value]) => [utf8Bytes(name), utf8Bytes(value)]),
    body: bytesOf(body),
  })
}

/** Sends bytes and reads the status of the first answer; `null` when the connection ends without one. */
function send(port: number, bytes: Uint8Array): Promise<number | null> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const finish = (): void => {
      clearTimeout(timer)
      socket.destroy()
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)
      resolve(status === null ? null : Number(status[1]))
    }
    const timer = setTimeout(finish, PATIENCE)
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      // Interim answers are not the answer.
      while (/^HTTP\/1\.1 1\d\d/.test(text) && text.includes('\r\n\r\n'))
        text = text.slice(text.indexOf('\r\n\r\n') + 4)
      if (isWhole(text)) finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
    socket.write(bytes)
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = text.slice(0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length !== null) return text.length >= end + 4 + Number(length[1])
  return /\r\ntransfer-encoding:/i.test(head) ? text.endsWith('0\r\n\r\n') : false
}

function originApp(): App {
  return pipeline().handle(async cx => {
    const chunks: Uint8Array[] = []
    const { body } = cx
    if (body !== null) {
      await new Promise<void>((resolve, reject) => {
        body.start({
          write(bytes) {
            chunks.push(bytes)
            return true
          },
          end: () => resolve(),
          fail: reject,
        })
      })
    }
    const answer = answerOf(cx.request.method, cx.request.target, Buffer.concat(chunks))
    const bytes = bytesOf(answer.body)
    return reply(answer.status, bytes, {
      headers: { ...(bytes.length > 0 ? { 'Content-Type': 'text/plain' } : {}), ...answer.headers },
    })
  })
}

async function serve(app: App): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer()
  const attached = attach(server, app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await attached.drain(0)
    },
  }
}
