/** The text format of Prometheus, version 0.0.4. */

/** `Content-Type` of the text. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What a family is. */
export type FamilyType = 'counter' | 'gauge' | 'histogram'

/** Names and values of labels, in order. */
export type Labels = readonly (readonly [name: string, value: string])[]

/** Writes families one after another. Names are the program's own; label values may be anything. */
export class Exposition {
  #text = ''

  /** Begins a family; its samples follow. */
  family(name: string, type: FamilyType, help: string): this {
    this.#text += `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
    return this
  }

  sample(name: string, labels: Labels, value: number): this {
    this.#text += `${name}${written(labels)} ${number(value)}\n`
    return this
  }

  /** Counts of a histogram's buckets, not summed up; the last one is what is above all bounds. */
  histogram(
    name: string,
    labels: Labels,
    bounds: readonly number[],
    counts: ArrayLike<number>,
    sum: number,
  ): this {
    let total = 0
    for (let i = 0; i <= bounds.length; i++) {
      total += counts[i]!
      const le = i < bounds.length ? number(bounds[i]!) : '+Inf'
      this.sample(`${name}_bucket`, [...labels, ['le', le]], total)
    }
    return this.sample(`${name}_sum`, labels, sum).sample(`${name}_count`, labels, total)
  }

  toString(): string {
    return this.#text
  }
}

function written(labels: Labels): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}
