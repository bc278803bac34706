/** Sends clients without TLS to the same place with it. */
import { type Context, type Handler, refuse, reply } from '@postern/core'

/** Options of {@link redirectToHttps}. */
export interface RedirectOptions {
  /** Port of the HTTPS server as clients reach it; default 443, which is not written. */
  port?: number
}

/**
 * A handler that answers 308 (RFC 9110, 15.4.9) with the `https:` address of the same host and target: the method stays,
 * so a POST is repeated as one. A request without a host is answered 400. The authority was judged by core, so nothing
 * else can get into the field.
 * @example attach(createServer(), pipeline().handle(redirectToHttps()))
 */
export function redirectToHttps(options: RedirectOptions = {}): Handler {
  const { port = 443 } = options
  return (cx: Context) => {
    const { authority, target } = cx.request
    if (authority === '' || !target.startsWith('/')) return refuse(400, 'bad-request')
    const host = authority.replace(/:\d+$/, '')
    const place = port === 443 ? host : `${host}:${port}`
    return reply(308, null, {
      headers: { Location: `https://${place}${encodeTarget(target)}`, 'Content-Length': 0 },
    })
  }
}

/** The target is bytes; a URI has none above 0x7e, and a field no controls. */
function encodeTarget(target: string): string {
  return target.replace(
    /[^\x21-\x7e]/g,
    one => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  )
}
