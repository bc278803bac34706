/** Sequences of transformations. */
import type { Transformation } from '../transform/index.ts'

/** One transformation; the same in all pipelines that have it. */
export interface PipelineStep {
  readonly id: number
  readonly run: Transformation
  /** Classes of bytes of which a value must hold one to be changed; see `transform/triggers.ts`. */
  readonly triggers: number
  /** It changes nothing but the case of letters. */
  readonly folds: boolean
}

/** A sequence of transformations, as a path in the tree of all sequences. */
export interface Pipeline {
  /** 0 is the empty one. */
  readonly id: number
  /** The sequence without the last step, and that; `null` for the empty one. */
  readonly parent: Pipeline | null
  readonly step: PipelineStep | null
  /** Those of all steps: a value without any of these classes stays as it is. */
  readonly triggers: number
}

/** All pipelines of a rule set; sequences with the same beginning share it. */
export class Pipelines {
  readonly empty: Pipeline = { id: 0, parent: null, step: null, triggers: 0 }
  readonly #children = new Map<string, Pipeline>()
  readonly #steps = new Map<string, PipelineStep>()

  /** The pipeline that does `name`, in lower case, after `parent`; `triggers` are those of the new step. */
  after(parent: Pipeline, name: string, run: Transformation, triggers: number): Pipeline {
    const key = `${parent.id} ${name}`
    const known = this.#children.get(key)
    if (known) return known
    const step = this.#stepOf(name, run, triggers)
    const made = { id: this.#children.size + 1, parent, step, triggers: parent.triggers | step.triggers }
    this.#children.set(key, made)
    return made
  }

  #stepOf(name: string, run: Transformation, triggers: number): PipelineStep {
    const known = this.#steps.get(name)
    if (known) return known
    const folds = name === 'lowercase' || name === 'uppercase'
    const made: PipelineStep = { id: this.#steps.size, run, triggers, folds }
    this.#steps.set(name, made)
    return made
  }
}
