/** `normalizePath`: no empty segments, no `.`, `..` taken back; never above the root, leading `..` of a relative path stay. */
export function normalisePath(value: string): string {
  if (!value.includes('/') && !value.includes('.')) return value
  const absolute = value.startsWith('/')
  const segments: string[] = []
  // A slash at the end stays unless `.` or `..` stood behind it.
  let trailing = false
  for (let from = 0; from <= value.length; ) {
    let to = value.indexOf('/', from)
    if (to === -1) to = value.length
    const segment = value.slice(from, to)
    const last = to === value.length
    if (segment === '' || segment === '.') {
      trailing = last && segment === '' && from > 0
    } else if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') {
      segments.pop()
      trailing = false
    } else if (segment !== '..' || !absolute) {
      segments.push(segment)
      trailing = false
    }
    from = to + 1
  }
  const path = segments.join('/')
  if (absolute) return trailing && path !== '' ? `/${path}/` : `/${path}`
  return trailing && path !== '' ? `${path}/` : path
}

/** `normalizePathWin`: the same, after each `\` became `/`. */
export function normalisePathWin(value: string): string {
  return normalisePath(value.includes('\\') ? value.replaceAll('\\', '/') : value)
}
