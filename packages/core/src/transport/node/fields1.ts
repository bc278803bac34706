/** Field lists of replies over HTTP/1.x: what belongs to the connection is the transport's own (RFC 9110, 7.6.1). */
import { sameName } from '../../headers/list.ts'
import { CONNECTION, isHopField, kindOf } from '../../headers/names.ts'

/** What a program's fields say of the connection. */
export type Told = 'nothing' | 'something' | 'close'

/** True for a value of `Connection` that asks for its end. */
export function saysClose(value: string): boolean {
  return /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)
}

/** One pass over the names. That the connection shall end is asked for; nothing else that is said of it counts. */
export function toldOfConnection(raw: readonly string[]): Told {
  let told: Told = 'nothing'
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (!isHopField(name)) continue
    if (kindOf(name) === CONNECTION && saysClose(raw[i + 1]!)) return 'close'
    told = 'something'
  }
  return told
}

/** The fields as they are sent. A copy where they change: a program may give the same reply again. */
export function replyFields(status: number, raw: string[], told: Told, closing: boolean): string[] {
  if (told === 'nothing' && !closing) return raw
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
