/**
 * Values that many requests have: names and values of header fields, above all. What is known about one of them is kept.
 *
 * Everything kept is a function of the bytes and the rule set, so a request can't change what another one gets. A value is
 * kept when it comes a second time, long ones never, and those that were not seen for longest go first.
 */
import { Form } from './form.ts'

/** Bytes of a value that is kept. */
const MAX_LENGTH = 256
/** Values in each of two generations: when the young one is full, it becomes the old one. */
const MAX_FORMS = 1000
/** Values that came once. */
const MAX_SEEN = 1000

export class FormCache {
  #young = new Map<string, Form>()
  #old = new Map<string, Form>()
  #seen = new Set<string>()

  /** The form of a value: the kept one, or a new one. */
  of(value: string): Form {
    if (value.length > MAX_LENGTH) return new Form(value)
    const young = this.#young.get(value)
    if (young !== undefined) return young
    let form = this.#old.get(value)
    if (form === undefined) {
      form = new Form(value)
      if (!this.#seen.has(value)) {
        if (this.#seen.size >= MAX_SEEN) this.#seen = new Set()
        this.#seen.add(value)
        return form
      }
    }
    if (this.#young.size >= MAX_FORMS) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(value, form)
    return form
  }
}
