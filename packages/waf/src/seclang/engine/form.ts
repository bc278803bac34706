/** Values of a request, and what was worked out about them. */
import { Subject } from '../regex/subject.ts'
import { classesIn } from '../transform/triggers.ts'
import type { Pipeline } from './pipeline.ts'

/** A byte string with its forms after transformations, and what the plan's conditions say of it. All of it depends on the bytes alone. */
export class Form extends Subject {
  /**
   * A bit for each condition of the plan that may match this value, and behind those a bit for each that does. Bits of the
   * first kind go once the condition was tried. `null` until the value was screened.
   */
  bits: Uint32Array | null = null
  /** Place among the different forms of one value; 0 is the value as it came. */
  readonly index: number
  readonly #classes: number
  /** All forms of the value: equal ones are one object. */
  readonly #family: Form[]
  #afterStep: (Form | undefined)[] | null = null
  #afterPipeline: (Form | undefined)[] | null = null

  constructor(text: string, family: Form[] = []) {
    super(text)
    this.#classes = classesIn(text)
    this.#family = family
    this.index = family.length
    family.push(this)
  }

  /** Classes of the bytes in it; see `transform/triggers.ts`. */
  get classes(): number {
    return this.#classes
  }

  /** The form after a pipeline: this one, where no step changes anything. */
  after(pipeline: Pipeline): Form {
    if ((this.#classes & pipeline.triggers) === 0) return this
    const known = this.#afterPipeline?.[pipeline.id]
    if (known !== undefined) return known
    const made = this.after(pipeline.parent!).#after(pipeline)
    this.#afterPipeline ??= []
    this.#afterPipeline[pipeline.id] = made
    return made
  }

  /** The form after the last step of a pipeline. */
  #after({ step }: Pipeline): Form {
    if ((this.#classes & step!.triggers) === 0) return this
    const known = this.#afterStep?.[step!.id]
    if (known !== undefined) return known
    const text = step!.run(this.text)
    const made = this.#family.find(form => form.text === text) ?? new Form(text, this.#family)
    this.#afterStep ??= []
    this.#afterStep[step!.id] = made
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
