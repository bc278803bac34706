import { createHash } from 'node:crypto'

/** `md5`: the 16 raw bytes. A name for a value, not a protection. */
export function md5(value: string): string {
  return createHash('md5').update(value, 'latin1').digest().toString('latin1')
}

/** `sha1`: the 20 raw bytes. */
export function sha1(value: string): string {
  return createHash('sha1').update(value, 'latin1').digest().toString('latin1')
}
