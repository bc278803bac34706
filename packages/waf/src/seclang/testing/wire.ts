/** Requests as bytes: taken apart, and put together. Strings hold one character a byte. */

/** A request as its bytes say it, without a judgement. */
export interface RawRequest {
  readonly method: string
  readonly target: string
  /** `HTTP/1.1`; `''` when the line does not say it. */
  readonly protocol: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
}

/** Takes a request apart. Lines may end in LF alone, as an editor writes them. @throws Error for what has no request line. */
export function parseRequest(bytes: Uint8Array): RawRequest {
  const text = Buffer.from(bytes).toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)
  const head = end === null ? text : text.slice(0, end.index)
  const [line = '', ...fields] = head.split(/\r?\n/)
  const [method = '', target = '', ...protocol] = line.split(' ')
  if (!/^\S+$/.test(method) || target === '')
    throw new Error('the first line is no request line: METHOD TARGET HTTP/1.1')
  return {
    method,
    target,
    protocol: protocol.join(' '),
    headers: fields.filter(field => field !== '').map(fieldOf),
    body: end === null ? new Uint8Array(0) : bytes.subarray(end.index + end[0].length),
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line, '']
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

/** Puts a request together. */
export function bytesOfRequest({ method, target, protocol, headers, body }: RawRequest): Uint8Array {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const line = protocol === '' ? `${method} ${target}` : `${method} ${target} ${protocol}`
  return Buffer.concat([Buffer.from(`${line}\r\n${fields}\r\n`, 'latin1'), body])
}
