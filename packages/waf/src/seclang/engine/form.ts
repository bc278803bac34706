/** Values of a request, and what was worked out about them. */
import { Subject } from '../regex/subject.ts'

/** A byte string with its forms after transformations, and what the plan's conditions say of it. All of it depends on the bytes alone. */
export class Form extends Subject {
  /**
   * A bit for each condition of the plan that may match this value, and behind those a bit for each that does; where they
   * stand. Bits of the first kind go once the condition was tried. `null` until the value was screened.
   */
  bits: Uint32Array | null = null
  at = 0
  #after: (Form | undefined)[] | null = null

  /** The form after a pipeline. A form that a step does not change is the same object. */
  after(pipeline: Pipeline): Form {
    if (pipeline.parent === null) return this
    this.#after ??= []
    const known = this.#after[pipeline.id]
    if (known !== undefined) return known
    const before = this.after(pipeline.parent)
    const text = pipeline.run!(before.text)
    const made = text === before.text ? before : new Form(text)
    this.#after[pipeline.id] = made
    return made
  }
}

/** A member of a collection: a key with a value. */
export class Entry {
  /** As the client wrote it; `''` where a variable has just one value. */
  readonly key: string
  /** The value as it came. */
  readonly value: string
  #form: Form | null
  #lower: string | null = null

  constructor(key: string, value: string, form: Form | null = null) {
    this.key = key
    this.value = value
    this.#form = form
  }

  /** What is known of the value. */
  get form(): Form {
    this.#form ??= new Form(this.value)
    return this.#form
  }

  set form(form: Form) {
    this.#form = form
  }

  /** The key in lower case, for selectors. */
  get lower(): string {
    this.#lower ??= this.key.toLowerCase()
    return this.#lower
  }
}

/** A sequence of transformations, as a path in the tree of all sequences. */
export interface Pipeline {
  /** 0 is the empty one. */
  readonly id: number
  /** `null` for the empty one. */
  readonly parent: Pipeline | null
  readonly run: ((value: string) => string) | null
  /** Classes of bytes of which a value must hold one for any of the steps to change it; see `transform/triggers.ts`. */
  readonly triggers: number
  /** Only the case of letters differs from the parent's result. */
  readonly folds: boolean
}

/** All pipelines of a rule set; sequences with the same beginning share it. */
export class Pipelines {
  readonly empty: Pipeline = { id: 0, parent: null, run: null, triggers: 0, folds: true }
  readonly #children = new Map<string, Pipeline>()

  /** The pipeline that does `name` after `parent`; `triggers` are those of the new step. */
  after(parent: Pipeline, name: string, run: (value: string) => string, triggers: number): Pipeline {
    const key = `${parent.id} ${name}`
    const known = this.#children.get(key)
    if (known) return known
    const made: Pipeline = {
      id: this.#children.size + 1,
      parent,
      run,
      triggers: parent.triggers | triggers,
      folds: name === 'lowercase' || name === 'uppercase',
    }
    this.#children.set(key, made)
    return made
  }
}
