/** HTTP/1.x over node:http: one request in, one reply out. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ProxyError } from '../../errors.ts'
import { judgeHead } from '../../headers/head.ts'
import { HeaderList } from '../../headers/list.ts'
import type { Source } from '../../pipeline/contract.ts'
import { type Connection1, connectionOf, type Waiting } from './connection1.ts'
import { Http1Link } from './link1.ts'
import { RequestBody } from './request-body.ts'
import type { Serving } from './serving.ts'

/** What a request may bring besides itself. */
export interface Extras {
  /** The client waits for 100 Continue. */
  readonly expectsContinue?: boolean
  /** The target that the app sees; default `req.url`. */
  readonly target?: string | undefined
  /** Replaces a body that was read before. */
  readonly given?: Source | null
  /** Why the request is refused before any gate. */
  readonly fault?: ProxyError | null
}

const NO_EXTRAS: Extras = {}

/** Answers one request of a node:http server with an app. */
export function serveHttp1(
  serving: Serving,
  req: IncomingMessage,
  res: ServerResponse,
  extras: Extras = NO_EXTRAS,
): void {
  const connection = connectionOf(req.socket as Socket)
  if (connection.refused && !extras.fault) return
  if (connection.full) connection.wait(new WaitingRequest(serving, connection, req, res, extras))
  else open(serving, connection, req, res, extras)
}

class WaitingRequest implements Waiting {
  fault: ProxyError | null = null
  readonly #serving: Serving
  readonly #connection: Connection1
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #extras: Extras

  constructor(
    serving: Serving,
    connection: Connection1,
    req: IncomingMessage,
    res: ServerResponse,
    extras: Extras,
  ) {
    this.#serving = serving
    this.#connection = connection
    this.#req = req
    this.#res = res
    this.#extras = extras
  }

  get complete(): boolean {
    return this.#req.complete
  }

  open(): void {
    const extras = this.fault ? { ...this.#extras, fault: this.fault } : this.#extras
    open(this.#serving, this.#connection, this.#req, this.#res, extras)
  }
}

function open(
  serving: Serving,
  connection: Connection1,
  req: IncomingMessage,
  res: ServerResponse,
  extras: Extras,
): void {
  const headers = new HeaderList(req.rawHeaders)
  const judged = judgeHead(
    {
      method: req.method ?? 'GET',
      target: extras.target ?? req.url ?? '/',
      version: req.httpVersionMinor === 0 ? '1.0' : '1.1',
      headers,
      peer: connection.peer,
    },
    serving.app.trusts,
  )
  const { head } = judged
  const fault = extras.fault ?? judged.fault
  const given = extras.given ?? null
  let body: RequestBody | null = null
  if (judged.hasBody && given === null) {
    const beforeStart = extras.expectsContinue ? () => sendContinue(res) : null
    body = new RequestBody(req, lengthOf(headers), beforeStart, serving.guard)
  }
  if (fault) connection.refuse()
  const link = new Http1Link(serving, connection, res, body, fault !== null)
  connection.add(link)
  link.begin(serving.app.open(head, given ?? body, link, fault))
}

function lengthOf(headers: HeaderList): number | null {
  const length = headers.get('content-length')
  return length === undefined || headers.has('transfer-encoding') ? null : Number(length)
}

/** Behind another answer it waits for its turn: node:http would send the final head first. */
function sendContinue(res: ServerResponse): void {
  if (res.socket !== null) res.writeContinue()
  else {
    res.once('socket', () => {
      if (!res.headersSent) res.writeContinue()
    })
  }
}
