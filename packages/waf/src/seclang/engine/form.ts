/** Values of a request, and what was worked out about them. */
import { Subject } from '../regex/subject.ts'

/** A byte string with its candidates: which patterns of the rule set can match it at all. */
export class Form extends Subject {
  /** A bit for each pattern; `null` until it was scanned. */
  candidates: Uint32Array | null = null
}

/** A member of a collection: a key with a value, and the value's forms after each pipeline of transformations. */
export class Entry {
  /** As the client wrote it; `''` where a variable has just one value. */
  readonly key: string
  readonly #forms: (Form | undefined)[] = []
  #lower: string | null = null

  constructor(key: string, value: string) {
    this.key = key
    this.#forms[0] = new Form(value)
  }

  get value(): string {
    return this.#forms[0]!.text
  }

  /** The key in lower case, for selectors. */
  get lower(): string {
    this.#lower ??= this.key.toLowerCase()
    return this.#lower
  }

  /** The value after a pipeline. Forms that are equal are one object, so that what is known of it is shared. */
  form(pipeline: Pipeline): Form {
    const known = this.#forms[pipeline.id]
    if (known !== undefined) return known
    const before = this.form(pipeline.parent!)
    const text = pipeline.run!(before.text)
    const made = text === before.text ? before : new Form(text)
    this.#forms[pipeline.id] = made
    return made
  }
}

/** A sequence of transformations, as a path in the tree of all sequences. */
export interface Pipeline {
  /** 0 is the empty one. */
  readonly id: number
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
