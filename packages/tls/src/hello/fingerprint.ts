/** Fingerprints of TLS clients: JA4, and JA3 for lists that are older. */
import { hash } from 'node:crypto'
import type { ClientHello } from './parse.ts'

const SERVER_NAME = 0x0000
const ALPN = 0x0010
const VERSIONS: Readonly<Record<number, string>> = {
  772: '13',
  771: '12',
  770: '11',
  769: '10',
  768: 's3',
  2: 's2',
}

/** True for the values that clients throw in so that servers stay tolerant (RFC 8701). */
export function isGrease(value: number): boolean {
  return (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff)
}

/**
 * JA4 over TCP, as FoxIO specifies it: version, server name or not, counts and first protocol; the sorted cipher
 * suites; the sorted extensions with the signature algorithms in order. Stable where clients shuffle.
 */
export function ja4(hello: ClientHello): string {
  const ciphers = hello.ciphers.filter(notGrease)
  const extensions = hello.extensions.filter(notGrease)
  const head = [
    't',
    versionOf(hello),
    hello.extensions.includes(SERVER_NAME) ? 'd' : 'i',
    count(ciphers.length),
    count(extensions.length),
    protocolMark(hello.protocols[0]),
  ].join('')
  const suites = ciphers.map(hex4).sort().join()
  const rest = extensions
    .filter(type => type !== SERVER_NAME && type !== ALPN)
    .map(hex4)
    .sort()
    .join()
  const signatures = hello.signatures.filter(notGrease).map(hex4).join()
  const tail = signatures === '' ? rest : `${rest}_${signatures}`
  return `${head}_${short(suites)}_${extensions.length === 0 ? NOTHING : short(tail)}`
}

/** JA3: MD5 over the same lists as they were sent. Browsers shuffle their extensions, so theirs differs each time. */
export function ja3(hello: ClientHello): string {
  const fields = [
    String(hello.version),
    ...[hello.ciphers, hello.extensions, hello.groups].map(list => list.filter(notGrease).join('-')),
    hello.pointFormats.join('-'),
  ]
  return hash('md5', fields.join(), 'hex')
}

const NOTHING = '000000000000'

function versionOf(hello: ClientHello): string {
  const offered = hello.versions.filter(notGrease)
  return VERSIONS[offered.length > 0 ? Math.max(...offered) : hello.version] ?? '00'
}

function protocolMark(protocol: string | undefined): string {
  if (protocol === undefined) return '00'
  const [first, last] = [protocol[0]!, protocol.at(-1)!]
  if (/^[0-9A-Za-z]{2}$/.test(first + last)) return first + last
  const hex = Buffer.from(first + last, 'latin1').toString('hex')
  return hex[0]! + hex[3]!
}

function count(length: number): string {
  return String(Math.min(99, length)).padStart(2, '0')
}

/** Code points by their hex: clients send the same ones again and again. The codes are 65,536 at most. */
const HEX = new Map<number, string>()

function hex4(value: number): string {
  const known = HEX.get(value)
  if (known !== undefined) return known
  const made = value.toString(16).padStart(4, '0')
  HEX.set(value, made)
  return made
}

function short(text: string): string {
  return text === '' ? NOTHING : hash('sha256', text, 'hex').slice(0, 12)
}

function notGrease(value: number): boolean {
  return !isGrease(value)
}
