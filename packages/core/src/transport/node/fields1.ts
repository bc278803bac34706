/** Field lists of replies over HTTP/1.x: what belongs to the connection is the transport's own (RFC 9110, 7.6.1). */
import { sameName } from '../../headers/list.ts'
import { isHopField } from '../../headers/names.ts'

/** A program asks for the end of the connection. Nothing else that it says of the connection counts. */
export function saysClose(raw: readonly string[]): boolean {
  for (let i = 0; i < raw.length; i += 2) {
    if (sameName(raw[i]!, 'connection') && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(raw[i + 1]!)) return true
  }
  return false
}

/** The fields as they are sent. A copy where they change: a program may give the same reply again. */
export function replyFields(status: number, raw: string[], closing: boolean): string[] {
  let own = closing
  for (let i = 0; i < raw.length && !own; i += 2) own = isHopField(raw[i]!)
  if (!own) return raw
  const fields: string[] = []
  let connection = closing ? 'close' : ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    // 426 names the protocols that it wants (RFC 9110, 15.5.22).
    const kept = status === 426 && sameName(name, 'upgrade')
    if (kept) connection = closing ? 'close, Upgrade' : 'Upgrade'
    if (kept || !isHopField(name)) fields.push(name, raw[i + 1]!)
  }
  if (connection !== '') fields.push('Connection', connection)
  return fields
}
