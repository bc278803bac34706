/**
 * Values that many requests have: names and values of headers, above all. What is known about one of them is kept.
 *
 * Everything kept is a function of the bytes and the rule set, so a request can't change what another one gets. Long
 * values are not kept, and the values that were not seen for longest go first.
 */
import QuickLRU from 'quick-lru'
import { Entry, Form } from './form.ts'

const MAX_LENGTH = 200
const MAX_FORMS = 2000

export class FormCache {
  readonly #forms = new QuickLRU<string, Form>({ maxSize: MAX_FORMS })
  readonly #operators: number

  /** @param operators verdicts that each form keeps. */
  constructor(operators: number) {
    this.#operators = operators
  }

  /** The form of a value: the kept one, or a new one. */
  of(value: string): Form {
    if (value.length > MAX_LENGTH) return new Form(value)
    const known = this.#forms.get(value)
    if (known !== undefined) return known
    const made = new Form(value)
    made.verdicts = new Uint8Array(this.#operators)
    this.#forms.set(value, made)
    return made
  }

  /** An entry whose value is taken from here. */
  entry(key: string, value: string): Entry {
    return new Entry(key, value, this.of(value))
  }

  /** Gives an entry the kept form of its value. */
  keep(entry: Entry): Entry {
    entry.form = this.of(entry.value)
    return entry
  }
}
