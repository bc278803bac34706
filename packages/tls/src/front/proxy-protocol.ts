/** The PROXY protocol of HAProxy, versions 1 and 2: a proxy in front tells whom it connects. */
import { isIPv4, isIPv6 } from 'node:net'
import type { ProxiedAddresses } from '../server/raw.ts'

/** A header: how long it is and what it tells; `null` addresses mean the connection's own. */
export interface ProxyHeader {
  readonly length: number
  readonly addresses: ProxiedAddresses | null
}

const LONGEST_V1 = 107
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Room for addresses and a good many TLVs; the format would allow 64 KB. */
const LONGEST_V2 = 4096
const START_V1 = Buffer.from('PROXY ')
const PORT = /^(?:0|[1-9]\d{0,4})$/

/** Reads the header at the start of `bytes`. Strict: what is not exactly a header is invalid, nothing is guessed. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  if (startsLike(bytes, SIGNATURE)) return readV2(bytes)
  if (startsLike(bytes, START_V1)) return readV1(bytes)
  return 'invalid'
}

function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return length > 0 && bytes.compare(start, 0, length, 0, length) === 0
}

function readV1(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  const end = bytes.indexOf('\r\n')
  if (end === -1) return bytes.length < LONGEST_V1 ? 'more' : 'invalid'
  if (end + 2 > LONGEST_V1) return 'invalid'
  const length = end + 2
  const text = bytes.toString('latin1', 0, end)
  // What follows UNKNOWN is to be ignored.
  if (text === 'PROXY UNKNOWN' || text.startsWith('PROXY UNKNOWN ')) return { length, addresses: null }
  const [, family, remoteAddress = '', localAddress = '', remote = '', local = '', ...more] = text.split(' ')
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : null
  if (!isAddress?.(remoteAddress) || !isAddress(localAddress) || more.length > 0) return 'invalid'
  if (!PORT.test(remote) || !PORT.test(local) || remoteAddress.includes('%') || localAddress.includes('%'))
    return 'invalid'
  const [remotePort, localPort] = [Number(remote), Number(local)]
  if (remotePort > 65_535 || localPort > 65_535) return 'invalid'
  return { length, addresses: { remoteAddress, remotePort, localAddress, localPort } }
}

function readV2(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  if (bytes.length < 16) return 'more'
  const command = bytes[12]!
  const family = bytes[13]!
  const size = bytes.readUInt16BE(14)
  const length = 16 + size
  if (length > LONGEST_V2 || (command !== 0x20 && command !== 0x21)) return 'invalid'
  if (bytes.length < length) return 'more'
  // LOCAL: the proxy itself, for example a health check. UNSPEC and Unix sockets tell no address.
  if (command === 0x20 || family === 0x00 || (family === 0x31 && size >= 216))
    return { length, addresses: null }
  if (family === 0x11 && size >= 12) return told(length, bytes.subarray(16, 28), 4)
  if (family === 0x21 && size >= 36) return told(length, bytes.subarray(16, 52), 16)
  return 'invalid'
}

function told(length: number, block: Buffer, width: 4 | 16): ProxyHeader {
  const address = (at: number): string => {
    const bytes = block.subarray(at, at + width)
    return width === 4 ? bytes.join('.') : (bytes.toString('hex').match(/.{4}/g) ?? []).join(':')
  }
  return {
    length,
    addresses: {
      remoteAddress: address(0),
      localAddress: address(width),
      remotePort: block.readUInt16BE(2 * width),
      localPort: block.readUInt16BE(2 * width + 2),
    },
  }
}
