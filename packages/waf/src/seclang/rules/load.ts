/** Reads rule files into a rule set. */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parseMacro } from '../engine/macro.ts'
import { Pipelines } from '../engine/pipeline.ts'
import { type ActionSpec, parseActions } from '../parse/actions.ts'
import { Mistake, type Place, RuleError, type RuleFault } from '../parse/fault.ts'
import { logicalLines } from '../parse/lines.ts'
import { parseTargets } from '../parse/targets.ts'
import { splitWords } from '../parse/words.ts'
import { RuleFiles } from './files.ts'
import { link } from './link.ts'
import type { Condition, Disruption, RuleSet } from './model.ts'
import { readRanges } from './read-ctl.ts'
import { applyActions, type Draft, emptyDraft, readCondition, type WrittenDisruption } from './read-rule.ts'
import { defaultSettings, type Settings } from './settings.ts'
import { applySetting } from './settings-directives.ts'

/** Files that include one another. */
const MAX_INCLUDE_DEPTH = 20
const MAX_FAULTS = 50

/** A rule before defaults, updates and removals are applied. */
export interface DraftRule {
  readonly draft: Draft
  readonly place: Place
  readonly conditions: Condition[]
}

/** A change to rules that were read before it. */
export type Update =
  | { readonly kind: 'remove'; readonly matches: (rule: DraftRule) => boolean }
  | { readonly kind: 'targets'; readonly matches: (rule: DraftRule) => boolean; readonly text: string }
  | { readonly kind: 'actions'; readonly id: number; readonly actions: readonly ActionSpec[] }

/** A source of rules: a file by its path (globs in the last part), or text. */
export type RuleSource = { readonly path: string } | { readonly text: string; readonly name?: string }

/** Milliseconds that a slice of the loading may take. */
const SLICE = 5

/**
 * Reads sources in order.
 * @throws RuleError with all mistakes, each with file, line, rule id and fix.
 */
export function loadRules(sources: readonly RuleSource[], files: RuleFiles = new RuleFiles()): RuleSet {
  const loader = new Loader(files)
  for (const _ of loader.read(sources)) {
    // All of it at once.
  }
  return loader.finish()
}

/** The same, in slices: what else the process has to do goes on meanwhile. */
export async function loadRulesInSlices(sources: readonly RuleSource[], files: RuleFiles): Promise<RuleSet> {
  const loader = new Loader(files)
  let start = performance.now()
  for (const _ of loader.read(sources)) {
    if (performance.now() - start < SLICE) continue
    await new Promise(resolve => setImmediate(resolve))
    start = performance.now()
  }
  return loader.finish()
}

class Loader {
  readonly #files: RuleFiles
  readonly #settings: Settings = defaultSettings()
  readonly #pipelines = new Pipelines()
  readonly #steps: (DraftRule | { marker: string })[] = []
  readonly #ids = new Map<number, Place>()
  readonly #defaults = new Map<number, Draft>()
  readonly #faults: RuleFault[] = []
  /** The starter of a chain that waits for its next member. */
  #open: DraftRule | null = null
  #depth = 0

  constructor(files: RuleFiles) {
    this.#files = files
  }

  /** Reads everything; it stops after each directive, for whoever wants to do something else. */
  *read(sources: readonly RuleSource[]): Generator<void> {
    for (const source of sources) {
      if ('path' in source) yield* this.#include(source.path, { file: '(options)', line: 0 })
      else yield* this.#text(source.text, source.name ?? '(text)', process.cwd())
    }
  }

  finish(): RuleSet {
    if (this.#open)
      this.#fault(
        this.#open.place,
        new Mistake('a chain has no next rule', 'Add the SecRule, or leave chain out.'),
      )
    if (this.#faults.length > 0) throw new RuleError(this.#faults)
    return link(this.#settings, this.#steps, this.#defaults)
  }

  *#include(path: string, from: Place): Generator<void> {
    if (this.#depth >= MAX_INCLUDE_DEPTH) {
      this.#fault(from, new Mistake('Include is nested too deep', 'Does a file include itself?'))
      return
    }
    this.#depth += 1
    try {
      const base = from.line === 0 ? process.cwd() : dirname(from.file)
      const files = this.#files.expand(isAbsolute(path) ? path : resolve(base, path))
      if (files.length === 0)
        throw new Mistake(`no file fits ${path}`, 'Check the path; * and ? stand for parts of a name.')
      for (const file of files) yield* this.#text(this.#files.text(file), file, dirname(file))
    } catch (error) {
      this.#fault(from, error)
    }
    this.#depth -= 1
  }

  *#text(text: string, file: string, folder: string): Generator<void> {
    // Rules are bytes: UTF-8 in a file is matched as the bytes it is.
    for (const { text: line, line: number } of logicalLines(text)) {
      const place = { file, line: number }
      try {
        const words = splitWords(line)
        if (words[0]!.toLowerCase() !== 'include') this.#directive(words, place, folder)
        else if (this.#open === null) yield* this.#include(words.slice(1).join(' '), place)
        else this.#interrupted()
      } catch (error) {
        this.#fault(place, error, idIn(line))
      }
      yield
      if (this.#faults.length >= MAX_FAULTS) throw new RuleError(this.#faults)
    }
  }

  #fault(place: Place, error: unknown, id?: number): void {
    if (error instanceof RuleError) throw error
    if (!(error instanceof Mistake)) throw error
    this.#faults.push({
      ...place,
      ...(id === undefined ? {} : { id }),
      problem: error.message,
      fix: error.fix,
    })
  }

  #directive([name, ...words]: string[], place: Place, folder: string): void {
    const directive = name!.toLowerCase()
    if (this.#open && directive !== 'secrule' && directive !== 'secaction') this.#interrupted()
    switch (directive) {
      case 'secrule':
        if (words.length < 2 || words.length > 3)
          throw new Mistake(
            'SecRule needs variables, an operator and actions',
            'Write SecRule VARIABLES "@operator argument" "actions".',
          )
        return this.#rule(words[0]!, words[1]!, words[2] ?? '', place, folder)
      case 'secaction':
        if (words.length !== 1)
          throw new Mistake('SecAction needs its actions', 'Write SecAction "id:1,phase:1,pass".')
        return this.#rule(null, null, words[0]!, place, folder)
      case 'secmarker':
        this.#steps.push({ marker: words.join(' ').replace(/^'|'$/g, '') })
        return
      case 'secdefaultaction':
        return this.#default(words.join(' '))
      case 'secruleremovebyid': {
        const ranges = readRanges(words.join(' '))
        return this.#update({ kind: 'remove', matches: rule => inRanges(rule.draft.id!, ranges) })
      }
      case 'secruleremovebytag':
      case 'secruleremovebymsg':
        return this.#update({ kind: 'remove', matches: this.#by(directive, words[0] ?? '') })
      case 'secruleupdatetargetbyid': {
        const ranges = readRanges(words[0] ?? '')
        return this.#update({
          kind: 'targets',
          matches: rule => inRanges(rule.draft.id!, ranges),
          text: words.slice(1).join(' '),
        })
      }
      case 'secruleupdatetargetbytag':
      case 'secruleupdatetargetbymsg':
        return this.#update({
          kind: 'targets',
          matches: this.#by(directive, words[0] ?? ''),
          text: words.slice(1).join(' '),
        })
      case 'secruleupdateactionbyid':
        return this.#update({
          kind: 'actions',
          id: readRanges(words[0] ?? '')[0]![0],
          actions: parseActions(words.slice(1).join(' ')),
        })
      default:
        if (!applySetting(this.#settings, directive, words)) {
          throw new Mistake(`directive ${name} is not known`, 'Check its spelling, or leave it out.')
        }
    }
  }

  #interrupted(): never {
    this.#open = null
    throw new Mistake('a chain is interrupted', 'The next rule of the chain must follow directly.')
  }

  #by(directive: string, text: string): (rule: DraftRule) => boolean {
    if (text === '') throw new Mistake('there is nothing to look for', 'Name the tag or the message.')
    return directive.endsWith('tag')
      ? ({ draft }) => draft.tags.includes(text)
      : ({ draft }) => draft.message === text
  }

  #update(update: Update): void {
    const rules = this.#steps.filter((step): step is DraftRule => 'draft' in step)
    switch (update.kind) {
      case 'remove':
        for (const rule of rules.filter(update.matches)) {
          this.#steps.splice(this.#steps.indexOf(rule), 1)
          this.#ids.delete(rule.draft.id!)
        }
        return
      case 'targets': {
        const { targets, exclusions } = parseTargets(update.text)
        for (const rule of rules.filter(update.matches)) {
          const first = rule.conditions[0]!
          rule.conditions[0] = {
            ...first,
            targets: [...first.targets, ...targets],
            exclusions: [...first.exclusions, ...exclusions],
          }
        }
        return
      }
      case 'actions': {
        const rule = rules.find(({ draft }) => draft.id === update.id)
        if (!rule)
          throw new Mistake(`there is no rule ${update.id} before this line`, 'Put it behind the rule.')
        if (update.actions.some(({ name }) => name === 'id' || name === 'chain' || name === 't')) {
          throw new Mistake('id, chain and t can not be updated', 'Write the rule anew.')
        }
        applyActions(rule.draft, update.actions)
      }
    }
  }

  #default(text: string): void {
    const draft = emptyDraft()
    applyActions(draft, parseActions(text))
    if (draft.phase === null || draft.disruption === null || draft.disruption.kind === 'block') {
      throw new Mistake(
        'SecDefaultAction needs a phase and a disruptive action',
        'Write "phase:2,log,auditlog,pass".',
      )
    }
    if (draft.id !== null || draft.transformations.length > 0 || draft.chain) {
      throw new Mistake('SecDefaultAction takes no id, t or chain', 'Put them into the rules.')
    }
    if (this.#defaults.has(draft.phase))
      throw new Mistake(`phase ${draft.phase} has a default already`, 'Keep one of them.')
    this.#defaults.set(draft.phase, draft)
  }

  #rule(
    targetText: string | null,
    operatorText: string | null,
    actionText: string,
    place: Place,
    folder: string,
  ): void {
    const open = this.#open
    const draft = emptyDraft()
    this.#open = null
    applyActions(draft, parseActions(actionText))
    const list = targetText === null ? { targets: [], exclusions: [] } : parseTargets(targetText)
    const condition = readCondition(draft, list, operatorText, this.#pipelines, {
      macro: parseMacro,
      file: name => this.#files.text(isAbsolute(name) ? name : join(folder, name)),
    })
    if (open) {
      this.#member(open, draft, condition)
      return
    }
    if (draft.id === null) throw new Mistake('the rule has no id', 'Give it one that no other rule has.')
    const same = this.#ids.get(draft.id)
    if (same)
      throw new Mistake(`id ${draft.id} is taken by ${same.file}:${same.line}`, 'Give each rule its own.')
    this.#ids.set(draft.id, place)
    const rule: DraftRule = { draft, place, conditions: [condition] }
    this.#steps.push(rule)
    if (draft.chain) this.#open = rule
  }

  #member(open: DraftRule, draft: Draft, condition: Condition): void {
    if (draft.id !== null || draft.disruption !== null || draft.phase !== null) {
      throw new Mistake(
        'a rule inside a chain has id, phase or a disruptive action',
        'They belong to the first rule of the chain.',
      )
    }
    open.conditions.push(condition)
    if (draft.skipAfter !== null) open.draft.skipAfter = draft.skipAfter
    if (draft.chain) this.#open = open
  }
}

/** Which disruptive action holds: the rule's own, and for `block` the phase's default. */
export function disruptionOf(draft: Draft, fallback: Draft | undefined): Disruption {
  const written: WrittenDisruption = draft.disruption ?? fallback?.disruption ?? { kind: 'pass' }
  const chosen = written.kind === 'block' ? (fallback?.disruption ?? { kind: 'pass' }) : written
  const status = draft.status ?? fallback?.status ?? null
  if (chosen.kind === 'block') return { kind: 'pass' }
  if (status === null) return chosen
  if (chosen.kind === 'deny') return { kind: 'deny', status }
  return chosen.kind === 'redirect' && status >= 300 && status < 400 ? { ...chosen, status } : chosen
}

function inRanges(id: number, ranges: readonly (readonly [number, number])[]): boolean {
  return ranges.some(([from, to]) => id >= from && id <= to)
}

function idIn(line: string): number | undefined {
  const found = /\bid:'?(\d{1,15})/.exec(line)
  return found ? Number(found[1]) : undefined
}
