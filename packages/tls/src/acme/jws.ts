/** Signs requests: JSON Web Signatures (RFC 7515) as RFC 8555, 6.2 wants them, with ECDSA P-256. */
import { createHash, createHmac, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** The public half as JWK members, in the order of RFC 7638. */
export interface PublicJwk {
  crv: string
  kty: string
  x: string
  y: string
}

/** A signed body. */
export interface Jws {
  protected: string
  payload: string
  signature: string
}

/** Key of an external account (RFC 8555, 7.3.4). */
export interface ExternalAccount {
  keyId: string
  /** base64url, as CAs give it. */
  key: string
}

export function publicJwk(key: KeyObject): PublicJwk {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

/** RFC 7638: SHA-256 over the members in this order. */
export function thumbprint(key: KeyObject): string {
  return createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url')
}

/** `payload` undefined: POST-as-GET (RFC 8555, 6.3). `kid` null: signed with the key itself, for a new account. */
export function signRequest(
  key: KeyObject,
  url: string,
  nonce: string,
  kid: string | null,
  payload: unknown,
): Jws {
  const header = { alg: 'ES256', nonce, url, ...(kid === null ? { jwk: publicJwk(key) } : { kid }) }
  return join(header, payload, input => sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }))
}

/** Binds a new account to one that the CA knows. */
export function bindExternal(key: KeyObject, url: string, account: ExternalAccount): Jws {
  const secret = Buffer.from(account.key, 'base64url')
  const header = { alg: 'HS256', kid: account.keyId, url }
  return join(header, publicJwk(key), input => createHmac('sha256', secret).update(input).digest())
}

function join(header: object, payload: unknown, signer: (input: Buffer) => Buffer): Jws {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const body = payload === undefined ? '' : Buffer.from(JSON.stringify(payload)).toString('base64url')
  return {
    protected: head,
    payload: body,
    signature: signer(Buffer.from(`${head}.${body}`)).toString('base64url'),
  }
}
