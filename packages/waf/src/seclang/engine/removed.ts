/** What `ctl` took out of the rule set for one transaction. */
import type { Target } from '../parse/targets.ts'
import type { Control, Rule } from '../rules/model.ts'

/** Entries of all lists together; more are ignored. */
const MAX_ENTRIES = 1000

const NO_TEXTS: ReadonlySet<string> = new Set()

export class Removed {
  // Replaced, not changed: most transactions remove nothing.
  #ranges: readonly (readonly [number, number])[] = []
  #tags = NO_TEXTS
  #messages = NO_TEXTS
  #targets: readonly { readonly applies: (rule: Rule) => boolean; readonly target: Target }[] = []

  /** Whether anything was removed: the usual answer is no. */
  any = false
  /** Whether any target was. */
  anyTarget = false

  add(control: Control): void {
    if (this.#ranges.length + this.#tags.size + this.#messages.size + this.#targets.length > MAX_ENTRIES)
      return
    switch (control.kind) {
      case 'removeById':
        this.#ranges = [...this.#ranges, ...control.ranges]
        break
      case 'removeByTag':
        this.#tags = new Set([...this.#tags, control.text])
        break
      case 'removeByMsg':
        this.#messages = new Set([...this.#messages, control.text])
        break
      case 'removeTargetById':
        return this.#target(control.target, rule => inRanges(rule.id, control.ranges))
      case 'removeTargetByTag':
        return this.#target(control.target, rule => rule.tags.includes(control.text))
      case 'removeTargetByMsg':
        return this.#target(control.target, rule => rule.message?.source === control.text)
      default:
        return
    }
    this.any = true
  }

  #target(target: Target, applies: (rule: Rule) => boolean): void {
    this.#targets = [...this.#targets, { target, applies }]
    this.anyTarget = true
  }

  hasRule(rule: Rule): boolean {
    return (
      inRanges(rule.id, this.#ranges) ||
      (this.#tags.size > 0 && rule.tags.some(tag => this.#tags.has(tag))) ||
      (this.#messages.size > 0 && rule.message !== null && this.#messages.has(rule.message.source))
    )
  }

  /** Targets that this rule must not look at. */
  targetsOf(rule: Rule): readonly Target[] {
    return this.#targets.filter(({ applies }) => applies(rule)).map(({ target }) => target)
  }
}

function inRanges(id: number, ranges: readonly (readonly [number, number])[]): boolean {
  return ranges.some(([from, to]) => id >= from && id <= to)
}
