/** `hexEncode`: lower case. */
export function hexEncode(value: string): string {
  return Buffer.from(value, 'latin1').toString('hex')
}

/** `hexDecode`: pairs of digits; a value with anything else in it is empty, as it is no hexadecimal text. */
export function hexDecode(value: string): string {
  return value.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(value)
    ? Buffer.from(value, 'hex').toString('latin1')
    : ''
}

/** `sqlHexDecode`: `0x414243` inside a value becomes the bytes that it means. */
export function sqlHexDecode(value: string): string {
  return value.replace(/0[xX]((?:[0-9a-fA-F]{2})+)/g, (_, digits: string) =>
    Buffer.from(digits, 'hex').toString('latin1'),
  )
}
