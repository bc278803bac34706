import { Mistake } from '../parse/fault.ts'
import { parseTargets, type Target } from '../parse/targets.ts'
import { auditParts } from './audit-parts.ts'
import type { Control } from './model.ts'

/** Reads the value of `ctl`. */
export function readCtl(text: string): Control {
  const equals = text.indexOf('=')
  const name = (equals === -1 ? text : text.slice(0, equals)).trim().toLowerCase()
  const value = equals === -1 ? '' : text.slice(equals + 1).trim()
  switch (name) {
    case 'ruleengine':
      return { kind: 'engine', mode: choice(name, value, ['On', 'Off', 'DetectionOnly']) }
    case 'auditengine':
      return { kind: 'auditEngine', mode: choice(name, value, ['On', 'Off', 'RelevantOnly']) }
    case 'auditlogparts':
      return { kind: 'auditLogParts', parts: auditParts(value) }
    case 'ruleremovebyid':
      return { kind: 'removeById', ranges: readRanges(value) }
    case 'ruleremovebytag':
      return { kind: 'removeByTag', text: value }
    case 'ruleremovebymsg':
      return { kind: 'removeByMsg', text: value }
    case 'ruleremovetargetbyid': {
      const { head, target } = split(value)
      return { kind: 'removeTargetById', ranges: readRanges(head), target }
    }
    case 'ruleremovetargetbytag': {
      const { head, target } = split(value)
      return { kind: 'removeTargetByTag', text: head, target }
    }
    case 'ruleremovetargetbymsg': {
      const { head, target } = split(value)
      return { kind: 'removeTargetByMsg', text: head, target }
    }
    case 'requestbodyprocessor':
      return {
        kind: 'processor',
        name: choice(name, value, ['URLENCODED', 'MULTIPART', 'JSON', 'XML', 'RAW']),
      }
    case 'forcerequestbodyvariable':
      return { kind: 'forceRequestBody', on: choice(name, value, ['On', 'Off']) === 'On' }
    case 'forceresponsebodyvariable':
      return { kind: 'forceResponseBody', on: choice(name, value, ['On', 'Off']) === 'On' }
    case 'requestbodyaccess':
      return { kind: 'requestBodyAccess', on: choice(name, value, ['On', 'Off']) === 'On' }
    case 'responsebodyaccess':
      return { kind: 'responseBodyAccess', on: choice(name, value, ['On', 'Off']) === 'On' }
    case 'requestbodylimit':
      return { kind: 'requestBodyLimit', bytes: bytes(value) }
    case 'responsebodylimit':
      return { kind: 'responseBodyLimit', bytes: bytes(value) }
    case 'debugloglevel':
    case 'hashengine':
    case 'hashenforcement':
    case 'responsebodyprocessor':
      return { kind: 'none', name }
    default:
      throw new Mistake(`ctl:${name} is not known`, 'See the list of controls in the documentation.')
  }
}

/** Reads ids: `1`, `1-9`, several of them with blanks or commas between. */
export function readRanges(text: string): (readonly [number, number])[] {
  const ranges = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(part => {
      const found = /^'?(\d{1,15})(?:-(\d{1,15}))?'?$/.exec(part)
      if (!found) throw new Mistake(`'${part}' is no rule id`, 'Write 920100 or 920100-920199.')
      return [Number(found[1]), Number(found[2] ?? found[1])] as const
    })
  if (ranges.length === 0) throw new Mistake('there is no rule id', 'Write 920100 or 920100-920199.')
  return ranges
}

function split(value: string): { head: string; target: Target } {
  const semicolon = value.indexOf(';')
  if (semicolon === -1) throw new Mistake(`'${value}' names no variable`, 'Write id;VARIABLE:key.')
  const { targets } = parseTargets(value.slice(semicolon + 1))
  if (targets.length !== 1)
    throw new Mistake(`'${value}' does not name one variable`, 'Use one ctl for each variable.')
  return { head: value.slice(0, semicolon).trim(), target: targets[0]! }
}

function choice<const T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find(known => known.toLowerCase() === value.toLowerCase())
  if (!found) throw new Mistake(`ctl:${name} takes no '${value}'`, `Write one of ${choices.join(', ')}.`)
  return found
}

function bytes(value: string): number {
  if (!/^\d{1,10}$/.test(value)) throw new Mistake(`'${value}' is no number of bytes`, 'Write digits.')
  return Number(value)
}
