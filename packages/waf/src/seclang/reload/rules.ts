/** The rules that run, and how others take their place. */
import type { Running } from '../api/engine.ts'
import { RuleProgram } from '../engine/program.ts'
import { look, RuleFiles } from '../rules/files.ts'
import { loadRulesInSlices, type RuleSource } from '../rules/load.ts'

export class Rules implements Running {
  readonly #sources: readonly RuleSource[]
  #program: RuleProgram | null = null
  #seen: ReadonlyMap<string, string> = new Map()
  #last: Promise<unknown> = Promise.resolve()
  #stop: (() => void) | null = null

  constructor(sources: readonly RuleSource[]) {
    this.#sources = sources
  }

  get program(): RuleProgram {
    return this.#program!
  }

  /** What the files were when they were read last; those of a set that was refused as well. */
  get seen(): ReadonlyMap<string, string> {
    return this.#seen
  }

  /**
   * Reads everything; the program changes when all of it is good. One after another: a later call sees later files.
   * @throws RuleError
   */
  reload(): Promise<void> {
    const mine = this.#last.then(() => this.#load())
    this.#last = mine.catch(() => {})
    return mine
  }

  async #load(): Promise<void> {
    const files = new RuleFiles()
    try {
      const set = await loadRulesInSlices(this.#sources, files)
      // Counters of addresses and sessions live on.
      this.#program = new RuleProgram(
        set,
        this.#program === null ? {} : { persistent: this.#program.persistent },
      )
      this.#seen = files.seen
    } catch (error) {
      // What this attempt did not come to is taken as it is now: only a further change is a reason to try again.
      this.#seen = new Map([...(await look(this.#seen)), ...files.seen])
      throw error
    }
  }

  /** What `close` has to end. */
  onClose(stop: () => void): void {
    this.#stop = stop
  }

  close(): void {
    this.#stop?.()
    this.#stop = null
  }
}
