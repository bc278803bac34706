/** A mistake in a rule file. */

/** Where something stands in a rule file. */
export interface Place {
  readonly file: string
  /** Counted from 1; the first line of what was continued over several. */
  readonly line: number
}

/** One mistake: where, what, and what to do about it. */
export interface RuleFault extends Place {
  /** Id of the rule, when it is known. */
  readonly id?: number
  readonly problem: string
  readonly fix: string
}

/** Thrown with all mistakes of a rule set at once. */
export class RuleError extends Error {
  readonly faults: readonly RuleFault[]

  constructor(faults: readonly RuleFault[]) {
    super(faults.map(lineOf).join('\n'))
    this.name = 'RuleError'
    this.faults = faults
  }
}

function lineOf({ file, line, id, problem, fix }: RuleFault): string {
  return `${file}:${line}${id === undefined ? '' : ` rule ${id}`}: ${problem}. ${fix}`
}

/** Thrown inside the parser, where the place is not known yet. */
export class Mistake extends Error {
  readonly fix: string

  constructor(problem: string, fix: string) {
    super(problem)
    this.fix = fix
  }
}
