/** Number of set bits of 0 to 127 is odd. */
const ODD = Array.from({ length: 128 }, (_, byte) => byte.toString(2).replaceAll('0', '').length % 2 === 1)

function map(value: string, change: (low: number) => number): string {
  let out = ''
  for (let i = 0; i < value.length; i++) out += String.fromCharCode(change(value.charCodeAt(i) & 0x7f))
  return out
}

/** `parityEven7bit`: the eighth bit makes the number of set bits even. */
export function parityEven7bit(value: string): string {
  return map(value, low => (ODD[low] ? low | 0x80 : low))
}

/** `parityOdd7bit`: the eighth bit makes the number of set bits odd. */
export function parityOdd7bit(value: string): string {
  return map(value, low => (ODD[low] ? low : low | 0x80))
}

/** `parityZero7bit`: the eighth bit is 0. */
export function parityZero7bit(value: string): string {
  return map(value, low => low)
}
