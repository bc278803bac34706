/** `replaceComments`: each C comment, also one that never ends, is one blank. */
export function replaceComments(value: string): string {
  let start = value.indexOf('/*')
  if (start === -1) return value
  let out = ''
  let from = 0
  while (start !== -1) {
    out += `${value.slice(from, start)} `
    const end = value.indexOf('*/', start + 2)
    if (end === -1) return out
    from = end + 2
    start = value.indexOf('/*', from)
  }
  return out + value.slice(from)
}

/** `removeCommentsChar`: the marks of comments go, what stands in them stays. */
export function removeCommentsChar(value: string): string {
  return value.replace(/\/\*|\*\/|<!--|-->|--|#/g, '')
}

/** `removeComments`: comments of C, SQL, shell and HTML go with their text; an open C comment leaves a blank. */
export function removeComments(value: string): string {
  let out = ''
  let at = 0
  while (at < value.length) {
    const end = value.startsWith('/*', at) ? '*/' : value.startsWith('<!--', at) ? '-->' : ''
    if (end !== '') {
      const close = value.indexOf(end, at + end.length)
      if (close === -1) return `${out} `
      at = close + end.length
    } else if (value.startsWith('--', at) || value[at] === '#') {
      return out
    } else {
      out += value[at]
      at += 1
    }
  }
  return out
}
