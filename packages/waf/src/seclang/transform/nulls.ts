/** `removeNulls`. */
export function removeNulls(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', '') : value
}

/** `replaceNulls`: with blanks. */
export function replaceNulls(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', ' ') : value
}
