/** Why a request was blocked, or was not, in words. */
import { reader } from '../body/index.ts'
import { legible } from '../body/place.ts'
import { encodingOf } from '../engine/inspector.ts'
import type { Engine, Finding, Inspection, InspectRequest } from '../engine/types.ts'
import { type ViewName, viewer } from '../normalise/views.ts'
import { patterns } from '../patterns/index.ts'

/** A value that was looked at. */
interface Seen {
  readonly place: string
  readonly value: string
  readonly forms: readonly (readonly [ViewName, string])[]
}

const MOST_VALUES = 200
const MOST_SHOWN = 160

/**
 * Tells of each value with findings: its place, its raw text, the forms that normalisation gives it, and each rule with its
 * score and what it looks for. Values without findings are counted. Text of the request is shown as printable ASCII, cut at
 * 160 characters.
 * @example console.log(explain(signatures(), request`GET /?id=${"1' or 1=1"}`))
 */
export function explain(engine: Engine, request: InspectRequest, inspection?: Inspection): string {
  const { blocked, score, threshold, findings, violation } = inspection ?? engine.inspect(request)
  const lines = [
    `${legible(request.method)} ${show(request.target)}`,
    `${blocked ? 'blocked' : 'passed'}: score ${score}, threshold ${threshold} (${engine.name})`,
  ]
  if (violation !== null)
    lines.push(`bad form: ${violation.rule} in ${violation.place}: ${violation.message}`)
  const seen = valuesOf(request)
  const told = new Set<Finding>()
  for (const value of seen) {
    const here = findings.filter(finding => finding.place === value.place && !told.has(finding))
    // A place may have several values: a key and what it names. The finding goes to the one that shows its excerpt.
    const mine = here.filter(finding => value.forms.some(([, text]) => fits(text, finding)))
    if (mine.length === 0) continue
    lines.push('', `${value.place} = ${show(value.value)}`)
    for (const [name, text] of value.forms) lines.push(`  ${name.padEnd(8)} ${show(text)}`)
    for (const finding of mine) {
      told.add(finding)
      lines.push(...describe(finding))
    }
  }
  const rest = findings.filter(finding => !told.has(finding))
  if (rest.length > 0) lines.push('', 'elsewhere')
  for (const finding of rest) lines.push(...describe(finding))
  lines.push('', `${seen.length} values looked at, ${findings.length} findings`)
  return lines.join('\n')
}

function describe({ rule, score, severity, message, excerpt, place }: Finding): string[] {
  const literals = patterns.find(pattern => pattern.id === rule)?.literals
  const lines = [`  +${score} ${rule} (${severity}): ${message}`]
  if (literals !== undefined) lines.push(`     looks for ${literals.slice(0, 6).map(show).join(', ')}`)
  lines.push(`     found ${show(excerpt)} in ${place}`)
  return lines
}

function valuesOf(request: InspectRequest): Seen[] {
  const seen: Seen[] = []
  let forms: [ViewName, string][] = []
  const view = viewer((name, bytes, length) => {
    forms.push([name, Buffer.from(bytes.subarray(0, length)).toString('latin1')])
  })
  reader()(request, (place, value) => {
    if (seen.length >= MOST_VALUES) return
    forms = []
    view(value, encodingOf(place.section))
    seen.push({ place: `${place}`, value, forms })
  })
  return seen
}

/** An excerpt is printable; the text is made so too before they are compared. */
function fits(text: string, { excerpt }: Finding): boolean {
  const plain = (one: string): string => one.replace(/[^\x21-\x7e]+/g, '').toLowerCase()
  const wanted = plain(excerpt.replaceAll('...', '').replaceAll('…', ''))
  return wanted !== '' && plain(text).includes(wanted.slice(0, 40))
}

function show(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, c => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return plain.length > MOST_SHOWN ? `${plain.slice(0, MOST_SHOWN - 3)}...` : plain
}
