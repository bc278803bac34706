/** Go templates as far as the tests of the Core Rule Set use them; whatever else stays as it is written. */

const MOST = 1 << 20

/** Replaces `{{ "text" | repeat 100 }}` and `{{ repeat 100 "text" }}`. */
export function expandTemplate(data: string): string {
  return data.replace(
    /\{\{-?\s*(?:"((?:[^"\\]|\\.)*)"\s*\|\s*repeat\s+(\d{1,7})|repeat\s+(\d{1,7})\s+"((?:[^"\\]|\\.)*)")\s*-?\}\}/g,
    (whole, first: string | undefined, times: string | undefined, count: string, last: string) => {
      const text = unquoted(first ?? last)
      const repeat = Number(times ?? count)
      return text.length * repeat > MOST ? whole : text.repeat(repeat)
    },
  )
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}
