/** Checks what options say of connections, and fills in the defaults. */

import { createSecureContext } from 'node:tls'
import { milliseconds, readOptions, something, type Table, text } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import type { ConnectionBounds } from './http1-options.ts'
import type { TlsOptions, UpstreamOptions } from './options.ts'
import {
  checkProtocol,
  type Http1Client,
  type Http2Settings,
  http2Settings,
  type UpstreamProtocol,
} from './protocol.ts'
import { certificates } from './rules.ts'

/** Bounds of the connections of a group, and what is spoken over them. */
export interface ConnectSettings extends ConnectionBounds {
  readonly protocol: UpstreamProtocol
  readonly http1: Http1Client
  readonly http2: Http2Settings
  readonly tunnels: number
  readonly tunnelIdle: number
}

type Timeouts = NonNullable<UpstreamOptions['timeouts']>

const TIMEOUTS: Table<Timeouts> = {
  connect: milliseconds(1),
  head: milliseconds(1),
  idle: milliseconds(1),
  total: milliseconds(0),
  tunnel: milliseconds(0),
}
const TLS: Table<TlsOptions> = {
  ca: certificates,
  servername: something(
    'a host name',
    value => typeof value === 'string' && /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(value),
    'Write the name that the certificate is for.',
  ),
  cert: certificates,
  key: something(
    'a key in PEM',
    value =>
      (typeof value === 'string' || value instanceof Uint8Array) && /PRIVATE KEY-----/.test(String(value)),
    'Pass PEM: -----BEGIN PRIVATE KEY----- …',
  ),
  passphrase: text,
}

/** Settings of connections, and the time for the whole exchange. */
export function checkConnect(
  options: Partial<UpstreamOptions>,
  place: string,
  faults: ConfigFault[],
): { connect: ConnectSettings; totalTimeout: number } {
  const timeouts = readOptions<Timeouts>(`${place}.timeouts`, options.timeouts, TIMEOUTS, faults)
  const { connect = 5000, head = 20_000, idle = 30_000, total = 30_000, tunnel = 3_600_000 } = timeouts
  const { connections = 128, queue = 1024, keepAlive = 4000, warm = 0, tunnels = 16_384 } = options
  if (warm > connections) {
    const fix = 'Choose fewer, or allow more connections.'
    faults.push({ place: `${place}.warm`, problem: `${warm} is more than the connections`, fix })
  }
  return {
    totalTimeout: total,
    connect: {
      connections,
      queue,
      keepAlive,
      connectTimeout: connect,
      headTimeout: head,
      idleTimeout: idle,
      warm,
      tls: checkTls(options.tls, `${place}.tls`, faults),
      protocol: checkProtocol(options, place, faults),
      http1: options.http1 ?? 'wire',
      http2: http2Settings(options, place, faults),
      tunnels,
      tunnelIdle: tunnel,
    },
  }
}

function checkTls(given: TlsOptions | undefined, place: string, faults: ConfigFault[]): TlsOptions {
  const tls = readOptions<TlsOptions>(place, given, TLS, faults)
  if ((given?.cert === undefined) !== (given?.key === undefined)) {
    const missing = given?.cert === undefined ? 'cert' : 'key'
    const fix = 'A client certificate needs both cert and key.'
    faults.push({ place: `${place}.${missing}`, problem: 'it is missing', fix })
  } else if (tls.cert !== undefined && tls.key !== undefined && !fits(tls)) {
    const problem = 'it does not fit the key, or the passphrase of the key is wrong'
    faults.push({ place: `${place}.cert`, problem, fix: 'Pass the certificate of this key.' })
  }
  return tls
}

/** Tried as at the first connection, which would be too late to tell. */
function fits({ cert, key, passphrase }: TlsOptions): boolean {
  try {
    createSecureContext({ cert, key, passphrase })
    return true
  } catch {
    return false
  }
}
