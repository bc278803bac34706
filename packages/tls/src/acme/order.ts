/** One order from beginning to end (RFC 8555, 7.4): authorizations, key and request, certificate. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { type Material, makeMaterial, readChain } from '../store/material.ts'
import { buildRequest } from '../x509/build.ts'
import type { Challenges, ChallengeType } from './challenges.ts'
import {
  type AcmeClient,
  type Authorization,
  type Challenge,
  type Order,
  problemError,
  type Resource,
} from './client.ts'
import { AcmeError } from './error.ts'
import { thumbprint } from './jws.ts'

/** What is ordered. */
export interface OrderPlan {
  readonly names: readonly string[]
  /** In order of preference. */
  readonly challenges: readonly ChallengeType[]
  readonly profile: string | null
  /** Identifier of the certificate that this one replaces (RFC 9773, 5). */
  readonly replaces: string | null
}

/** What an order needs beside the client. */
export interface OrderTools {
  readonly accountKey: KeyObject
  readonly proofs: Challenges
  readonly signal: AbortSignal
  /** Time for the whole order, in ms. */
  readonly timeout: number
}

/** A new certificate and its key, PEM. */
export interface Issued {
  readonly cert: string
  readonly key: string
}

const FIRST_WAIT = 250
const LONGEST_WAIT = 10_000

/** Orders a certificate. Proofs are taken away whatever happens. @throws AcmeError with the reason. */
export async function placeOrder(client: AcmeClient, plan: OrderPlan, tools: OrderTools): Promise<Issued> {
  // Not by the wall clock: it may be set while we wait.
  const deadline = performance.now() + tools.timeout
  const order = await createOrder(client, plan)
  for (const url of order.body.authorizations.slice(0, plan.names.length))
    await authorize(client, url, plan, tools, deadline)
  const ready = await poll(client, order, tools, deadline, body => body.status !== 'pending')
  if (ready.body.status === 'invalid') throw problemError(ready.body.error, 'the order became invalid')

  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = plan.names.map(name => ({ kind: 'dns' as const, name }))
  const csr = Buffer.from(buildRequest(names, publicKey, privateKey)).toString('base64url')
  await client.post(ready.body.finalize, { csr })
  const done = await poll(
    client,
    order,
    tools,
    deadline,
    ({ status }) => status === 'valid' || status === 'invalid',
  )
  if (done.body.status !== 'valid' || !done.body.certificate) {
    throw problemError(done.body.error, 'the order was not fulfilled')
  }
  const cert = await client.download(done.body.certificate)
  assertAsOrdered(makeMaterial(readChain(cert), privateKey, 'the new certificate'), plan.names)
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

async function createOrder(client: AcmeClient, plan: OrderPlan): Promise<Resource<Order>> {
  const { newOrder } = await client.directory()
  const identifiers = plan.names.map(value => ({ type: 'dns', value }))
  const base = { identifiers, ...(plan.profile === null ? {} : { profile: plan.profile }) }
  if (plan.replaces === null) return checkedOrder(await client.create<Order>(newOrder, base))
  try {
    return checkedOrder(await client.create<Order>(newOrder, { ...base, replaces: plan.replaces }))
  } catch (error) {
    // Somebody has replaced it already, or this CA never issued it: an order like any other.
    if (
      error instanceof AcmeError &&
      (error.type === 'alreadyReplaced' || error.status === 409 || error.type === 'malformed')
    ) {
      return checkedOrder(await client.create<Order>(newOrder, base))
    }
    throw error
  }
}

function checkedOrder(order: Resource<Order>): Resource<Order> {
  const { authorizations, finalize } = order.body
  if (!Array.isArray(authorizations) || typeof finalize !== 'string') {
    throw new AcmeError('protocol', 'the order lacks authorizations')
  }
  return order
}

async function authorize(
  client: AcmeClient,
  url: string,
  plan: OrderPlan,
  tools: OrderTools,
  deadline: number,
): Promise<void> {
  const authorization = await client.read<Authorization>(url)
  const { status, identifier, challenges } = authorization.body
  if (status === 'valid') return
  const name = String(identifier?.value).toLowerCase()
  if (status !== 'pending' || !plan.names.some(one => one === name || one === `*.${name}`)) {
    throw new AcmeError('protocol', `an authorization is ${status}, or for another name`)
  }
  const offered = Array.isArray(challenges) ? challenges : []
  const type = plan.challenges.find(one => offered.some(challenge => challenge.type === one))
  const challenge = offered.find(one => one.type === type)
  if (type === undefined || !challenge)
    throw new AcmeError('unsupported', `no challenge in common for ${name}`)
  const hide = await tools.proofs.show(
    type,
    name,
    challenge.token,
    `${challenge.token}.${thumbprint(tools.accountKey)}`,
  )
  try {
    await client.post(challenge.url, {})
    const done = await poll(client, authorization, tools, deadline, body => body.status !== 'pending')
    if (done.body.status !== 'valid') throw failure(done.body, challenge)
  } finally {
    await hide()
  }
}

function failure(authorization: Authorization, tried: Challenge): AcmeError {
  const told = authorization.challenges?.find(challenge => challenge.url === tried.url)?.error
  const name = authorization.identifier.value
  const error = problemError(told, 'the validation failed')
  return new AcmeError(error.type, `${name} by ${tried.type}: ${error.message}`)
}

async function poll<T>(
  client: AcmeClient,
  resource: Resource<T>,
  tools: OrderTools,
  deadline: number,
  isDone: (body: T) => boolean,
): Promise<Resource<T>> {
  let wait = FIRST_WAIT
  for (;;) {
    const now = await client.read<T>(resource.url)
    if (isDone(now.body)) return now
    const left = deadline - performance.now()
    if (left <= 0) throw new AcmeError('timeout', 'the order took too long')
    await sleep(Math.min(left, Math.max(wait, now.retryAfter)), tools.signal)
    wait = Math.min(LONGEST_WAIT, wait * 1.5)
  }
}

/** @throws Error when the CA signed something else than was asked for. */
function assertAsOrdered(material: Material, names: readonly string[]): void {
  const missing = names.filter(name => isIP(name) === 0 && !material.names.includes(name))
  if (missing.length > 0) throw new AcmeError('protocol', `the certificate lacks ${missing.join(', ')}`)
}

/** Waits, without holding the process open; rejects when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(new AcmeError('closed', 'the issuer was closed'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms).unref()
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
