/** A transaction without a request, in which the rules of constants are run once; what they do is written down. */
import type { Entry } from '../engine/form.ts'
import type { RuleProgram } from '../engine/program.ts'
import { Transaction } from '../engine/transaction.ts'
import type { Change, TxVariables } from '../engine/tx-variables.ts'
import type { RequestView } from '../variables/request.ts'

const NO_REQUEST: RequestView = {
  method: '',
  uriRaw: '',
  protocol: '',
  uri: '',
  filename: '',
  query: '',
  headers: [],
  cookies: [],
  args: [],
  remoteAddress: '',
  remotePort: 0,
  serverAddress: '',
  serverPort: 0,
  id: null,
}

/** A state to go back to. */
export interface Mark {
  readonly variables: TxVariables
  readonly changes: number
}

export class Recorder extends Transaction {
  #changes: Change[] = []

  constructor(program: RuleProgram) {
    super(program, NO_REQUEST)
  }

  override setVariable(collection: string, key: string, value: string): void {
    super.setVariable(collection, key, value)
    this.#changes.push({ key, entry: this.value(key)! })
  }

  override removeVariable(collection: string, key: string): void {
    super.removeVariable(collection, key)
    this.#changes.push({ key, entry: null })
  }

  value(key: string): Entry | undefined {
    return this.variables.get(key)
  }

  /** Whether a variable was changed since {@link forget}. */
  hasChanged(name: string): boolean {
    return this.#changes.some(({ key }) => key === name)
  }

  /** Gives the changes since the last call, and begins anew. */
  forget(): readonly Change[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  mark(): Mark {
    return { variables: this.variables.copy(), changes: this.#changes.length }
  }

  goBack({ variables, changes }: Mark): void {
    this.variables = variables.copy()
    this.#changes.length = changes
  }
}
