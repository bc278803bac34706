/** Values of a request, and what was worked out about them. */
import type { Scope } from '../plan/scope.ts'
import { Subject } from '../regex/subject.ts'
import { classesIn } from '../transform/triggers.ts'
import type { Pipeline, PipelineStep } from './pipeline.ts'

/** A byte string with its forms after transformations, and what the plan's conditions say of it. All of it depends on the bytes alone. */
export class Form extends Subject {
  /**
   * A bit for each condition of the plan that may match this value, and behind those a bit for each that does. Bits of the
   * first kind go once the condition was tried. `null` until the value was screened.
   */
  bits: Uint32Array | null = null
  /** The conditions for which it was screened. */
  scope: Scope | null = null
  /** Place among the different forms of one value; 0 is the value as it came. */
  readonly index: number
  /** The value as it came, and for that one all others of its forms: equal ones are one object. */
  readonly #first: Form
  #others: Form[] | null = null
  #classes = 0
  #afterStep: (Form | undefined)[] | null = null
  #afterPipeline: (Form | undefined)[] | null = null

  constructor(text: string, first: Form | null = null, index = 0) {
    super(text)
    this.#first = first ?? this
    this.index = index
  }

  /** Classes of the bytes in it, never 0; see `transform/triggers.ts`. */
  get classes(): number {
    if (this.#classes === 0) this.#classes = classesIn(this.bytes)
    return this.#classes
  }

  /** The form after a pipeline: this one, where no step changes anything. */
  after(pipeline: Pipeline): Form {
    if (pipeline.parent === null || (this.classes & pipeline.triggers) === 0) return this
    const known = this.#afterPipeline?.[pipeline.id]
    if (known !== undefined) return known
    const made = this.after(pipeline.parent).#after(pipeline.step!)
    this.#afterPipeline ??= []
    this.#afterPipeline[pipeline.id] = made
    return made
  }

  #after(step: PipelineStep): Form {
    if ((this.classes & step.triggers) === 0) return this
    const known = this.#afterStep?.[step.id]
    if (known !== undefined) return known
    const made = this.#member(step.run(this.text))
    this.#afterStep ??= []
    this.#afterStep[step.id] = made
    return made
  }

  /** The form of the value that has this text. */
  #member(text: string): Form {
    const first = this.#first
    if (first.text === text) return first
    first.#others ??= []
    const others = first.#others
    for (let i = 0; i < others.length; i++) if (others[i]!.text === text) return others[i]!
    const made = new Form(text, first, others.length + 1)
    others.push(made)
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
