/** Edits of field lines in one pass: these run for each request. */

/**
 * Leaves one line with this name at the end, or none for `null`. Spellings that CGI folds onto the same name
 * (`X_Request_Id`) go too. The caller has checked the value.
 */
export function replaceField(raw: string[], name: string, folded: string, value: string | null): void {
  const { length } = raw
  let kept = 0
  for (let i = 0; i < length; i += 2) {
    const other = raw[i]!
    if (other.length === folded.length && foldsTo(other, folded)) continue
    if (kept !== i) {
      raw[kept] = other
      raw[kept + 1] = raw[i + 1]!
    }
    kept += 2
  }
  if (kept !== length) raw.length = kept
  if (value !== null) raw.push(name, value)
}

/** True when `name`, in lower case and with `_` and `.` as `-`, is `folded`. Both have the same length. */
export function foldsTo(name: string, folded: string): boolean {
  for (let i = 0; i < folded.length; i++) {
    let code = name.charCodeAt(i)
    if (code === 0x5f || code === 0x2e) code = 0x2d
    else if (code >= 0x41 && code <= 0x5a) code |= 0x20
    if (code !== folded.charCodeAt(i)) return false
  }
  return true
}

/** The value of the only line with this name; `undefined` without one, `null` when there are several. */
export function onlyValue(raw: readonly string[], lower: string): string | null | undefined {
  let found: string | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (name.length !== lower.length || (name !== lower && name.toLowerCase() !== lower)) continue
    if (found !== undefined) return null
    found = raw[i + 1]!
  }
  return found
}
