/** A strict reader of the text format of Prometheus 0.0.4: whatever it does not expect is an error. */

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface Family {
  type: string
  help: string
  samples: Sample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = String.raw`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"`
const SAMPLE = new RegExp(String.raw`^(${NAME})(?:\{(${LABEL}(?:,${LABEL})*)\})? (\S+)$`)

/** Families by name, with every rule of the format checked: order, types, buckets, no sample twice. */
export function parseExposition(text: string): Map<string, Family> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, Family>()
  let current: { name: string; family: Family } | null = null
  let help: { name: string; text: string } | null = null
  const seen = new Set<string>()
  for (const line of text.split('\n').slice(0, -1)) {
    const helped = new RegExp(`^# HELP (${NAME}) (.*)$`).exec(line)
    const typed = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line)
    if (helped) {
      help = { name: helped[1]!, text: helped[2]! }
    } else if (typed) {
      const name = typed[1]!
      if (help?.name !== name) throw new Error(`TYPE of ${name} without its HELP`)
      if (families.has(name)) throw new Error(`${name} is there twice`)
      current = { name, family: { type: typed[2]!, help: help.text, samples: [] } }
      families.set(name, current.family)
    } else {
      const found = SAMPLE.exec(line)
      if (!found || !current) throw new Error(`not a line of the format: ${line}`)
      const [name, list = '', value] = [found[1]!, found[2], found.at(-1)!]
      const suffixes = current.family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!suffixes.some(suffix => current!.name + suffix === name))
        throw new Error(`${name} is not of ${current.name}`)
      const key = `${name}{${list}}`
      if (seen.has(key)) throw new Error(`${key} is there twice`)
      seen.add(key)
      const labels: Record<string, string> = Object.create(null)
      for (const [, label, raw] of list.matchAll(new RegExp(LABEL, 'g'))) labels[label!] = unescaped(raw!)
      current.family.samples.push({ name, labels: { ...labels }, value: numberOf(value) })
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkBuckets(name, family)
  return families
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\n])/g, (_all, c) => (c === 'n' ? '\n' : c))
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity
  if (text === '-Inf') return -Infinity
  if (text !== 'NaN' && !/^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/.test(text)) throw new Error(`${text} is no number`)
  return Number(text)
}

/** Buckets grow, end with +Inf, and that one is the count. */
function checkBuckets(name: string, { samples }: Family): void {
  const last = new Map<string, { le: number; value: number }>()
  for (const { name: sample, labels, value } of samples) {
    const { le, ...rest } = labels
    const key = JSON.stringify(rest)
    if (sample === `${name}_bucket`) {
      const before = last.get(key)
      const bound = numberOf(le!)
      if (before && (bound <= before.le || value < before.value))
        throw new Error(`buckets of ${name} do not grow`)
      last.set(key, { le: bound, value })
    } else if (sample === `${name}_count`) {
      const end = last.get(key)
      if (end?.le !== Infinity || end.value !== value) throw new Error(`${name}: +Inf is not the count`)
    }
  }
}
