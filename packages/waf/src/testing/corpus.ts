/** Collections of attacks and ordinary texts in files: one JSON object a line. */
import { readFileSync } from 'node:fs'
import type { Engine, InspectRequest } from '../engine/types.ts'

/** One line. Text of `target`, `headers` and `body` is UTF-8. */
export interface CorpusLine {
  readonly id: string
  readonly kind: 'attack' | 'benign'
  /** Family of the attack. */
  readonly type?: string
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
}

/** How many of a kind were blocked. */
export interface Count {
  readonly total: number
  readonly blocked: number
}

/** What came of a corpus. */
export interface CorpusResult {
  readonly engine: string
  readonly attacks: Count
  readonly texts: Count
  /** By `type` of the attacks. */
  readonly types: ReadonlyMap<string, Count>
  /** Attacks that passed. */
  readonly missed: readonly CorpusLine[]
  /** Texts that were blocked. */
  readonly wrong: readonly CorpusLine[]
}

/** Reads lines of JSON. @throws Error that names the line that is none. */
export function parseCorpus(text: string): CorpusLine[] {
  const lines: CorpusLine[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    let value: CorpusLine
    try {
      value = JSON.parse(line)
    } catch {
      throw new Error(`line ${index + 1} is no JSON`)
    }
    const usable =
      typeof value.target === 'string' && typeof value.method === 'string' && Array.isArray(value.headers)
    if (!usable || (value.kind !== 'attack' && value.kind !== 'benign')) {
      throw new Error(`line ${index + 1} needs kind (attack or benign), method, target and headers`)
    }
    lines.push(value)
  }
  return lines
}

/** Reads a file of such lines. */
export function readCorpus(path: string): CorpusLine[] {
  return parseCorpus(readFileSync(path, 'utf8'))
}

/** A line as an engine takes it. */
export function requestOf({ method, target, headers, body }: CorpusLine): InspectRequest {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  return {
    method,
    target: bytes(target),
    headers: headers.map(([name, value]) => [name, bytes(value)] as const),
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  }
}

/** Runs all lines through an engine. */
export function runCorpus(engine: Engine, lines: readonly CorpusLine[]): CorpusResult {
  const missed: CorpusLine[] = []
  const wrong: CorpusLine[] = []
  const types = new Map<string, { total: number; blocked: number }>()
  const attacks = { total: 0, blocked: 0 }
  const texts = { total: 0, blocked: 0 }
  for (const line of lines) {
    const { blocked } = engine.inspect(requestOf(line))
    const counts = [line.kind === 'attack' ? attacks : texts]
    if (line.kind === 'attack') {
      const type = line.type ?? 'other'
      const count = types.get(type) ?? { total: 0, blocked: 0 }
      types.set(type, count)
      counts.push(count)
    }
    for (const count of counts) {
      count.total++
      if (blocked) count.blocked++
    }
    if (line.kind === 'attack' && !blocked) missed.push(line)
    if (line.kind === 'benign' && blocked) wrong.push(line)
  }
  return { engine: engine.name, attacks, texts, types, missed, wrong }
}

/** The result as a few lines of text. */
export function formatCorpus({ engine, attacks, texts, types, missed, wrong }: CorpusResult): string {
  const share = ({ total, blocked }: Count): string =>
    `${blocked} of ${total} blocked${total === 0 ? '' : ` (${((100 * blocked) / total).toFixed(1)} %)`}`
  return [
    engine,
    `  attacks  ${share(attacks)}`,
    ...[...types].map(([type, count]) => `    ${type}: ${share(count)}`),
    `  texts    ${share(texts)}`,
    ...missed.map(({ id }) => `  missed   ${id}`),
    ...wrong.map(({ id }) => `  wrong    ${id}`),
  ].join('\n')
}
