/** Ordinary texts that a WAF has to let pass, by kind. All are written for this project. */
import { readdirSync, readFileSync } from 'node:fs'

const folder = (name: string): URL => new URL(`../${name}/`, import.meta.url)

/** Kinds whose texts stand in a place of their own; all others are values of parameters. */
export type Place = 'value' | 'cookie' | 'user-agent' | 'referer' | 'field-name' | 'filename'

const PLACES: Readonly<Record<string, Place>> = {
  cookies: 'cookie',
  'user-agents': 'user-agent',
  referers: 'referer',
  fields: 'field-name',
  filenames: 'filename',
}

export interface Kind {
  readonly name: string
  readonly place: Place
  readonly texts: readonly string[]
}

/**
 * Reads `*.lines.txt` (a text a line) and `*.blocks.txt` (texts between lines of `%%`): those of `data` pass in `balanced`;
 * those of `known` may be blocked there, because an attack can be written in just the same words.
 */
export function kinds(name: 'data' | 'known' = 'data'): Kind[] {
  return readdirSync(folder(name))
    .sort()
    .map(file => {
      const [kind, form] = file.split('.') as [string, string]
      const separator = form === 'blocks' ? '\n%%\n' : '\n'
      const texts = readFileSync(new URL(file, folder(name)), 'utf8')
        .trimEnd()
        .split(separator)
        .filter(text => text !== '')
      return { name: kind, place: PLACES[kind] ?? 'value', texts }
    })
}
