/** Names for a certificate: DNS names and IP addresses, as RFC 5280, 4.2.1.6 writes them. */
import { isIP } from 'node:net'
import type { ConfigFault } from '@postern/core'

/** Enough for a development machine; keeps the certificate inside one flight of the handshake. */
const MOST_NAMES = 100
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Clients read a name with such a last label as an IPv4 address. */
const NUMERIC = /^(\d+|0x[0-9a-f]*)$/

/** A name that can stand in a certificate. */
export type SubjectName =
  | { readonly kind: 'dns'; readonly name: string }
  | { readonly kind: 'ip'; readonly name: string; readonly bytes: Uint8Array }

/** Reads names in order, in lower case, each once; adds a fault for each that no client could match. */
export function readNames(names: readonly string[], place: string, faults: ConfigFault[]): SubjectName[] {
  if (!Array.isArray(names) || names.length === 0 || names.length > MOST_NAMES) {
    const count = Array.isArray(names) ? `${names.length} names are given` : 'it is no list'
    faults.push({ place, problem: count, fix: `Give 1 to ${MOST_NAMES} names, such as ['localhost'].` })
    return []
  }
  const read = new Map<string, SubjectName>()
  for (const [index, text] of names.entries()) {
    const name = typeof text === 'string' ? readName(text) : WRONG_TYPE
    if ('problem' in name) faults.push({ place: `${place}[${index}]`, ...name })
    else read.set(name.kind === 'ip' ? Buffer.from(name.bytes).toString('hex') : name.name, name)
  }
  return [...read.values()]
}

type Fault = Omit<ConfigFault, 'place'>

const WRONG_TYPE: Fault = { problem: 'it is no text', fix: "Write for example 'localhost'." }

function readName(text: string): SubjectName | Fault {
  const name = text.toLowerCase()
  const shown = JSON.stringify(text.slice(0, 80))
  const family = isIP(name)
  if (family !== 0 && !name.includes('%')) {
    return { kind: 'ip', name, bytes: family === 4 ? ipv4Bytes(name) : ipv6Bytes(name) }
  }
  if (name.includes(':') || name.includes('/')) {
    return {
      problem: `${shown} is neither a host name nor an IP address`,
      fix: 'Write the bare name or address: no scheme, port, path, brackets or zone.',
    }
  }
  return dnsFault(name, shown) ?? { kind: 'dns', name }
}

function dnsFault(name: string, shown: string): Fault | null {
  if (name.length > 253)
    return { problem: `${shown}… is longer than 253 characters`, fix: 'Use a shorter name.' }
  const wildcard = name.startsWith('*.')
  const labels = (wildcard ? name.slice(2) : name).split('.')
  if (wildcard && labels.length < 2) {
    return {
      problem: `the wildcard ${shown} is too wide: clients match none with fewer than two labels after it`,
      fix: "Write '*.app.localhost', or list the names.",
    }
  }
  if (labels.some(label => !LABEL.test(label))) {
    return {
      problem: `${shown} is no host name`,
      fix: "Labels are 1 to 63 letters, digits and inner hyphens; '*' only as the whole first label; 'xn--' for others.",
    }
  }
  return NUMERIC.test(labels.at(-1)!)
    ? { problem: `${shown} ends in a number but is no IP address`, fix: 'Write four numbers from 0 to 255.' }
    : null
}

function ipv4Bytes(address: string): Uint8Array {
  return Uint8Array.from(address.split('.'), Number)
}

function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = address.split('::')
  const before = groupBytes(head)
  const after = groupBytes(tail ?? '')
  return Uint8Array.from([
    ...before,
    ...new Array<number>(16 - before.length - after.length).fill(0),
    ...after,
  ])
}

function groupBytes(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (group.includes('.')) return [...ipv4Bytes(group)]
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
