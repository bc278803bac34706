/** `base64Encode`. */
export function base64Encode(value: string): string {
  return Buffer.from(value, 'latin1').toString('base64')
}

/** `base64Decode`: the part in front of the first character outside the alphabet. */
export function base64Decode(value: string): string {
  const end = value.search(/[^A-Za-z0-9+/]/)
  return decode(end === -1 ? value : value.slice(0, end))
}

/** `base64DecodeExt`: characters outside the alphabet are left out. */
export function base64DecodeExt(value: string): string {
  const end = value.indexOf('=')
  return decode((end === -1 ? value : value.slice(0, end)).replace(/[^A-Za-z0-9+/]+/g, ''))
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1')
}
