/**
 * Values that many requests have: names and values of header fields, above all. What is known about one of them is kept.
 *
 * Everything kept is a function of the bytes and the rule set, so a request can't change what another one gets. A value is
 * kept when it comes a second time, long ones never, and those that were not seen for longest go first.
 */
import QuickLRU from 'quick-lru'
import { apart } from './apart.ts'
import { Form } from './form.ts'

/** Bytes of a value that is kept. */
const MAX_LENGTH = 256
/** Values that are kept: at least so many, and at most twice as many. */
const MAX_FORMS = 1000
/** Values that came once. */
const MAX_SEEN = 1000

export class FormCache {
  readonly #forms = new QuickLRU<string, Form>({ maxSize: MAX_FORMS })
  #seen = new Set<string>()

  /** The form of a value: the kept one, or a new one. */
  of(value: string): Form {
    if (value.length > MAX_LENGTH) return new Form(value)
    const known = this.#forms.get(value)
    if (known !== undefined) return known
    if (this.#seen.has(value)) {
      const form = new Form(apart(value))
      this.#forms.set(form.text, form)
      return form
    }
    if (this.#seen.size >= MAX_SEEN) this.#seen = new Set()
    this.#seen.add(apart(value))
    return new Form(value)
  }
}
