/** Field lines that are kept with an answer and sent again and again. */
import { type HeaderList, isFieldName, isFieldValue, sameName } from './list.ts'
import { isHopField } from './names.ts'

/**
 * Field lines that many replies begin with, looked through once and written down as HTTP/1.1 sends them. A reply carries
 * them as {@link Reply.prepared} beside its `headers`, which stay the truth: a transport sends what is prepared only when
 * {@link leads} says that nobody has edited those lines.
 *
 * A transport that would rather keep bytes than text finds room for them in {@link made}.
 */
export class PreparedLines {
  /** `[name, value, …]`, as a reply's `headers.raw` begins. */
  readonly raw: readonly string[]
  /** `Name: value\r\n` for each line but `Content-Length`, one character a byte. */
  readonly text: string
  /** What `Content-Length` says; `null` without one. */
  readonly length: number | null
  /** `Date` is among the lines. */
  readonly dated: boolean
  /** What a transport has made of the lines; dropped with them. */
  made: unknown = null

  private constructor(raw: readonly string[], text: string, length: number | null, dated: boolean) {
    this.raw = raw
    this.text = text
    this.length = length
    this.dated = dated
  }

  /** `null` for lines that cannot be sent as they are: an illegal name or value, a field of the connection, an odd length. */
  static of(raw: readonly string[]): PreparedLines | null {
    let text = ''
    let length: number | null = null
    let dated = false
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!
      const value = raw[i + 1]!
      if (!isFieldName(name) || !isFieldValue(value) || isHopField(name)) return null
      if (sameName(name, 'content-length')) {
        if (length !== null || !/^\d{1,15}$/.test(value)) return null
        length = Number(value)
        continue
      }
      dated ||= sameName(name, 'date')
      text += `${name}: ${value}\r\n`
    }
    // One flat string: what was put together from pieces would be flattened with each reply that it is written into.
    return new PreparedLines(raw, Buffer.from(text, 'latin1').toString('latin1'), length, dated)
  }

  /** True while a reply's fields begin with exactly these lines. The strings are the same objects: that is quick. */
  leads({ raw }: HeaderList): boolean {
    const mine = this.raw
    if (raw.length < mine.length) return false
    for (let i = 0; i < mine.length; i++) if (raw[i] !== mine[i]) return false
    return true
  }

  /** The lines behind those, as text; `null` when they need a closer look: illegal, the connection's, `Date`, a length. */
  rest({ raw }: HeaderList): string | null {
    let text = ''
    for (let i = this.raw.length; i < raw.length; i += 2) {
      const name = raw[i]!
      const value = raw[i + 1]!
      if (!isFieldName(name) || !isFieldValue(value) || isHopField(name)) return null
      if (sameName(name, 'content-length') || sameName(name, 'date')) return null
      text += `${name}: ${value}\r\n`
    }
    return text
  }
}
