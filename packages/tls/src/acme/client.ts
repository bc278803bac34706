/** Talks ACME (RFC 8555) with one server under one account. Knows nothing of schedules and stores. */
import type { KeyObject } from 'node:crypto'
import { AcmeError, printable } from './error.ts'
import { type AcmeResponse, exchange, type Reach, retryAfterOf } from './http.ts'
import { bindExternal, type ExternalAccount, signRequest } from './jws.ts'

/** The addresses of a server (RFC 8555, 7.1.1). */
export interface Directory {
  newNonce: string
  newAccount: string
  newOrder: string
  /** RFC 9773, where the server has it. */
  renewalInfo?: string
  meta?: { termsOfService?: string; externalAccountRequired?: boolean; profiles?: Record<string, string> }
}

/** A resource with its address. */
export interface Resource<T> {
  readonly url: string
  readonly body: T
  /** Milliseconds that the server asks to wait before the next look. */
  readonly retryAfter: number
}

export interface Order {
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  authorizations: string[]
  finalize: string
  certificate?: string
  error?: Problem
}

export interface Authorization {
  status: 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked'
  identifier: { type: string; value: string }
  challenges: Challenge[]
  wildcard?: boolean
}

export interface Challenge {
  type: string
  url: string
  token: string
  status: string
  error?: Problem
}

/** RFC 9457 as far as ACME uses it. */
export interface Problem {
  type?: string
  detail?: string
  subproblems?: Problem[]
}

/** Servers that reject a nonce are asked again this often. */
const MOST_NONCE_RETRIES = 10
const MOST_NONCES = 10

/** How a client reaches its server. */
export interface ClientOptions extends Reach {
  readonly directory: string
  readonly clock: () => number
}

/** One server, one account key. */
export class AcmeClient {
  readonly #options: ClientOptions
  readonly #key: KeyObject
  readonly #nonces: string[] = []
  #directory: Promise<Directory> | null = null
  #account: string | null

  /** `account`: address of the account, when it is known already. */
  constructor(options: ClientOptions, key: KeyObject, account: string | null) {
    this.#options = options
    this.#key = key
    this.#account = account
  }

  get account(): string | null {
    return this.#account
  }

  /** The server's addresses; fetched once, and again after a failure. */
  directory(): Promise<Directory> {
    this.#directory ??= this.#fetchDirectory().catch(error => {
      this.#directory = null
      throw error
    })
    return this.#directory
  }

  /** Finds or makes the account (RFC 8555, 7.3). */
  async register(email: string | null, external: ExternalAccount | null): Promise<string> {
    if (this.#account !== null) return this.#account
    const { newAccount, meta } = await this.directory()
    if (meta?.externalAccountRequired && external === null) {
      throw new AcmeError('externalAccountRequired', 'this CA wants externalAccount: { keyId, key }')
    }
    const { headers } = await this.post(newAccount, {
      termsOfServiceAgreed: true,
      ...(email === null ? {} : { contact: [`mailto:${email}`] }),
      ...(external === null ? {} : { externalAccountBinding: bindExternal(this.#key, newAccount, external) }),
    })
    this.#account = addressOf(headers.location)
    return this.#account
  }

  /** Forgets the account's address: the server does not know it any more. */
  forget(): void {
    this.#account = null
  }

  /** Creates a resource, for example an order. */
  async create<T>(url: string, payload: unknown): Promise<Resource<T>> {
    const response = await this.post(url, payload)
    return this.#resource<T>(addressOf(response.headers.location), response)
  }

  /** POST-as-GET. */
  async read<T>(url: string): Promise<Resource<T>> {
    return this.#resource<T>(url, await this.post(url, undefined))
  }

  /** The certificate chain, PEM. */
  async download(url: string): Promise<string> {
    return (await this.post(url, undefined)).body
  }

  /** A plain GET: directory and renewal information need no signature. */
  async get<T>(url: string): Promise<Resource<T>> {
    return this.#resource<T>(url, this.#checked(await exchange('GET', url, null, this.#options)))
  }

  /** Signs and sends; a rejected nonce is no failure (RFC 8555, 6.5). @throws AcmeError with the server's problem. */
  async post(url: string, payload: unknown): Promise<AcmeResponse> {
    for (let attempt = 0; ; attempt++) {
      const nonce = this.#nonces.pop() ?? (await this.#freshNonce())
      const body = JSON.stringify(signRequest(this.#key, url, nonce, this.#account, payload))
      const response = await exchange('POST', url, body, this.#options)
      this.#keepNonce(response)
      try {
        return this.#checked(response)
      } catch (error) {
        const rejected = error instanceof AcmeError && error.type === 'badNonce'
        if (!rejected || attempt === MOST_NONCE_RETRIES) throw error
      }
    }
  }

  async #fetchDirectory(): Promise<Directory> {
    const { body } = await this.get<Directory>(this.#options.directory)
    for (const name of ['newNonce', 'newAccount', 'newOrder'] as const) addressOf(body[name])
    return body
  }

  async #freshNonce(): Promise<string> {
    const { newNonce } = await this.directory()
    this.#keepNonce(await exchange('HEAD', newNonce, null, this.#options))
    const nonce = this.#nonces.pop()
    if (nonce === undefined) throw new AcmeError('protocol', 'the server gave no nonce')
    return nonce
  }

  #keepNonce({ headers }: AcmeResponse): void {
    const nonce = headers['replay-nonce']
    if (typeof nonce !== 'string' || !/^[\w-]{1,512}$/.test(nonce)) return
    if (this.#nonces.length === MOST_NONCES) this.#nonces.shift()
    this.#nonces.push(nonce)
  }

  #checked(response: AcmeResponse): AcmeResponse {
    if (response.status >= 200 && response.status < 300) return response
    const { type, detail, subproblems } = parse<Problem>(response.body) ?? {}
    const wait = retryAfterOf(response.headers, this.#options.clock())
    throw new AcmeError(
      typeOf(type),
      describe({ detail: detail ?? `status ${response.status}`, subproblems: subproblems ?? [] }),
      response.status,
      wait,
    )
  }

  #resource<T>(url: string, response: AcmeResponse): Resource<T> {
    const body = parse<T>(response.body)
    if (body === null) throw new AcmeError('protocol', 'the answer is no JSON object')
    return { url, body, retryAfter: retryAfterOf(response.headers, this.#options.clock()) }
  }
}

/** A problem as an error. */
export function problemError(problem: Problem | undefined, fallback: string): AcmeError {
  return new AcmeError(typeOf(problem?.type), describe({ detail: fallback, ...problem }))
}

function describe({ detail, subproblems }: Problem): string {
  const parts = (Array.isArray(subproblems) ? subproblems : []).slice(0, 5).map(one => printable(one?.detail))
  return [printable(detail), ...parts].join('; ')
}

function typeOf(urn: unknown): string {
  const type = /^urn:ietf:params:acme:error:([A-Za-z]{1,40})$/.exec(String(urn))
  return type?.[1] ?? 'unknown'
}

function parse<T>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : null
  } catch {
    return null
  }
}

function addressOf(url: unknown): string {
  if (typeof url !== 'string' || !/^https:\/\/[\x21-\x7e]{1,2000}$/.test(url)) {
    throw new AcmeError('protocol', 'an address of the server is missing or not https:')
  }
  return url
}
