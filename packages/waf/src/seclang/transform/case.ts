/** `lowercase`: ASCII letters only, the value is bytes. */
export function lowercase(value: string): string {
  if (!/[A-Z]/.test(value)) return value
  return /[\x80-\xff]/.test(value)
    ? value.replace(/[A-Z]+/g, part => part.toLowerCase())
    : value.toLowerCase()
}

/** `uppercase`: ASCII letters only. */
export function uppercase(value: string): string {
  return value.replace(/[a-z]+/g, part => part.toUpperCase())
}
