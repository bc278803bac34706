/** Values of a request, and what was worked out about them. */
import { Subject } from '../regex/subject.ts'

/** A byte string with its candidates and its forms after transformations. All of it depends on the bytes alone. */
export class Form extends Subject {
  /** A bit for each pattern that can match; `null` until it was scanned. */
  candidates: Uint32Array | null = null
  /** Verdicts of operators, for forms that outlive a request: 0 unknown, 1 no, 2 yes. */
  verdicts: Uint8Array | null = null
  readonly #after: (Form | undefined)[] = []

  /** The form after a pipeline. Forms that are equal are one object, so that what is known of it is shared. */
  after(pipeline: Pipeline): Form {
    if (pipeline.parent === null) return this
    const known = this.#after[pipeline.id]
    if (known !== undefined) return known
    const before = this.after(pipeline.parent)
    const text = pipeline.run!(before.text)
    const made = text === before.text ? before : new Form(text)
    if (this.verdicts !== null) made.verdicts ??= new Uint8Array(this.verdicts.length)
    this.#after[pipeline.id] = made
    return made
  }
}

/** A member of a collection: a key with a value. */
export class Entry {
  /** As the client wrote it; `''` where a variable has just one value. */
  readonly key: string
  /** The value as it came. */
  form: Form
  #lower: string | null = null

  constructor(key: string, value: string, form: Form = new Form(value)) {
    this.key = key
    this.form = form
  }

  get value(): string {
    return this.form.text
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
}

/** All pipelines of a rule set; sequences with the same beginning share it. */
export class Pipelines {
  readonly empty: Pipeline = { id: 0, parent: null, run: null }
  readonly #children = new Map<string, Pipeline>()

  /** The pipeline that does `name` after `parent`. */
  after(parent: Pipeline, name: string, run: (value: string) => string): Pipeline {
    const key = `${parent.id} ${name}`
    const known = this.#children.get(key)
    if (known) return known
    const made: Pipeline = { id: this.#children.size + 1, parent, run }
    this.#children.set(key, made)
    return made
  }
}
