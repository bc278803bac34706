/** Which fingerprints are those of injections. */
import { BEGINNINGS, HARMLESS, KNOWN } from './fingerprint-data.ts'

const words = (list: string): Set<string> => new Set(list.split(' ').filter(Boolean))

const known = words(KNOWN)
const beginnings = words(BEGINNINGS)
const harmless = words(HARMLESS)
const shapes = new Set([...known].map(plain))

/** Whether a fingerprint is one of an injection: seen as one, or built like one and never seen otherwise. */
export function isKnownFingerprint(fingerprint: string): boolean {
  if (fingerprint === '') return false
  const upper = fingerprint.toUpperCase()
  if (known.has(upper)) return true
  if (harmless.has(upper)) return false
  const shape = plain(upper)
  return shapes.has(shape) || (shape.length === 5 && beginnings.has(shape.slice(0, 4)))
}

/** Strings, numbers, names and variables are one thing to an attacker. */
function plain(fingerprint: string): string {
  return fingerprint.replace(/[1SNV]/g, '1')
}
