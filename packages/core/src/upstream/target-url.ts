/** Reads how a target is written. */
import { isIP } from 'node:net'
import type { ConfigFault } from '../errors.ts'

/** A target as it was written. */
export interface TargetSpec {
  /** Its name in logs, and for `remove` and `drain`: the origin and the base path, or `unix:` and the paths. */
  readonly id: string
  /** What HTTP connects to: scheme, host and port. */
  readonly origin: string
  readonly secure: boolean
  /** Host name, or an address without brackets. */
  readonly hostname: string
  /** True when addresses of the host name have to be found. */
  readonly named: boolean
  /** Value of `Host` when the client's is not kept. */
  readonly authority: string
  /** In front of every path; `''` without one. */
  readonly basePath: string
  /** Path of a Unix socket, or `null`. */
  readonly socketPath: string | null
  readonly weight: number
}

/** One target with its own options. */
export interface TargetOptions {
  /** `http://host[:port][/base]`, `https://…` or `unix:/path/to.sock[:/base]`. */
  url: string
  /** Share of the load against the others, 1 to 1000; default 1. Counts for all ways of balancing but `'round-robin'`. */
  weight?: number
}

/** `sun_path` of Linux has 108 bytes with the closing zero. */
const LONGEST_SOCKET_PATH = 107
const WRITE = 'Write http://host:port, https://host or unix:/path/to.sock.'

/** The target, or `null` and a fault. The text itself is not told: a URL may hold a password. */
export function readTarget(
  given: string | TargetOptions,
  place: string,
  faults: ConfigFault[],
): TargetSpec | null {
  const add = (problem: string, fix: string): null => {
    faults.push({ place: `${place}.targets`, problem, fix })
    return null
  }
  const options = typeof given === 'string' ? { url: given } : given
  const text = options?.url
  if (typeof text !== 'string') return add('a target is neither text nor an object with a url', WRITE)
  for (const name of Object.keys(options)) {
    if (name !== 'url' && name !== 'weight')
      return add(`a target has an unknown option '${name}'`, 'Leave it out.')
  }
  const { weight = 1 } = options as TargetOptions
  if (!Number.isSafeInteger(weight) || weight < 1 || weight > 1000) {
    return add(`the weight ${String(weight)} is no whole number from 1 to 1000`, 'Choose one in that range.')
  }
  if (text.startsWith('unix:')) return readSocket(text, weight, add)
  const url = URL.canParse(text) ? new URL(text) : null
  const plain = url && !url.username && !url.password && !url.search && !url.hash && url.port !== '0'
  if (!url || !plain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return add(
      'a target is not an http: or https: URL without user, query and fragment, or its port is 0',
      WRITE,
    )
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const basePath = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '')
  return {
    id: url.origin + basePath,
    origin: url.origin,
    secure: url.protocol === 'https:',
    hostname,
    named: isIP(hostname) === 0,
    authority: url.host,
    basePath,
    socketPath: null,
    weight,
  }
}

function readSocket(
  text: string,
  weight: number,
  add: (problem: string, fix: string) => null,
): TargetSpec | null {
  const [, socketPath = '', base = ''] = /^unix:(\/[^:?#\0]+)(?::(\/[^?#\s]*))?$/.exec(text) ?? []
  if (socketPath === '')
    return add('a unix: target has no absolute path', 'Write unix:/path/to.sock or unix:/path/to.sock:/base.')
  if (Buffer.byteLength(socketPath) > LONGEST_SOCKET_PATH) {
    return add(`the path of a socket has more than ${LONGEST_SOCKET_PATH} bytes`, 'Use a shorter one.')
  }
  const basePath = base.replace(/\/$/, '')
  return {
    id: basePath === '' ? `unix:${socketPath}` : `unix:${socketPath}:${basePath}`,
    origin: 'http://localhost',
    secure: false,
    hostname: 'localhost',
    named: false,
    authority: 'localhost',
    basePath,
    socketPath,
    weight,
  }
}
