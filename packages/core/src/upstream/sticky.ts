/** Keeps a client with the target that it had before, by a cookie that tells nothing. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Context } from '../pipeline/contract.ts'
import { readCookie } from './balance/cookie.ts'

/** Options of sticky sessions. */
export interface StickyOptions {
  /** Name of the cookie; default `sticky`. With `__Host-` or `__Secure-` in front, `secure` has to be true. */
  cookie?: string
  /**
   * Key of the values, 16 bytes or more. Default: random, so that sessions move after a restart. Processes that serve the
   * same clients need the same one.
   */
  secret?: string | Uint8Array
  /** `Path` of the cookie; default `/`. */
  path?: string
  /** Default `Lax`. `None` needs `secure: true`. */
  sameSite?: 'Strict' | 'Lax' | 'None'
  /** `'auto'` (default): when the client's connection is encrypted. */
  secure?: boolean | 'auto'
  /** Seconds that the browser keeps it; default: for its session. */
  maxAge?: number
}

/** Characters of a value: 128 bits. */
const LENGTH = 22

/** A target that can be found again. */
export interface Sticky {
  readonly label: string
}

/** Finds targets by cookie, and writes the cookie. */
export class Affinity {
  readonly #cookie: string
  readonly #secret: string | Uint8Array
  readonly #attributes: string
  readonly #secure: boolean | 'auto'
  readonly #tokens = new WeakMap<Sticky, string>()

  constructor(options: StickyOptions) {
    const {
      cookie = 'sticky',
      secret = randomBytes(32),
      path = '/',
      sameSite = 'Lax',
      secure = 'auto',
    } = options
    this.#cookie = cookie
    this.#secret = secret
    this.#secure = secure
    const age = options.maxAge === undefined ? '' : `; Max-Age=${options.maxAge}`
    this.#attributes = `; Path=${path}${age}; HttpOnly; SameSite=${sameSite}`
  }

  /** Where the client was, when that can still be used. */
  find<T extends Sticky>(cx: Context, ready: readonly T[]): T | null {
    const token = readCookie(cx.request.headers, this.#cookie)
    if (token?.length !== LENGTH) return null
    for (const target of ready) if (this.#tokenOf(target) === token) return target
    return null
  }

  /** `Set-Cookie` for a client that is now with this target; `null` when it knows already. */
  cookieFor(cx: Context, target: Sticky): string | null {
    const token = this.#tokenOf(target)
    if (readCookie(cx.request.headers, this.#cookie) === token) return null
    const secure = this.#secure === 'auto' ? cx.request.scheme === 'https' : this.#secure
    return `${this.#cookie}=${token}${this.#attributes}${secure ? '; Secure' : ''}`
  }

  /** An HMAC of the target's name: without the secret nobody can tell which target it is, or make one up. */
  #tokenOf(target: Sticky): string {
    let token = this.#tokens.get(target)
    if (token === undefined) {
      token = createHmac('sha256', this.#secret).update(target.label).digest('base64url').slice(0, LENGTH)
      this.#tokens.set(target, token)
    }
    return token
  }
}
