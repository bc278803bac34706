/** Entity tags (RFC 9110, 8.8.3). */

const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/
const LIST = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** True for a well-formed strong tag. */
export function isStrong(tag: string | undefined): tag is string {
  return tag !== undefined && TAG.test(tag) && !tag.startsWith('W/')
}

/** Weak comparison: the opaque parts are equal. */
export function weakMatch(a: string, b: string): boolean {
  return opaque(a) === opaque(b)
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

/** True when `If-None-Match` names the stored tag, or is `*`. A value that is no list is compared as it stands. */
export function listsTag(field: string, stored: string | undefined): boolean {
  const value = field.trim()
  if (value === '*') return true
  if (stored === undefined) return false
  if (value === stored) return true
  return TAG.test(stored) && (value.match(LIST) ?? []).some(tag => weakMatch(tag, stored))
}
