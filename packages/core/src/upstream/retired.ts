/** Connections of targets that have gone: what runs may finish, for a time. */
import type { Connector } from './connector.ts'
import type { Clock } from './health/breaker.ts'

/** Closes connectors, and cuts those that take too long. */
export class Retired {
  readonly #timeout: number
  readonly #clock: Clock
  readonly #closing = new Map<Connector, Promise<void>>()

  /** `timeout` in ms. */
  constructor(timeout: number, clock: Clock) {
    this.#timeout = timeout
    this.#clock = clock
  }

  /** Settles when nothing of it is left. */
  add(connector: Connector): Promise<void> {
    const takeBack = this.#clock.after(this.#timeout, () => void connector.destroy().catch(() => {}))
    const closed = connector
      .close()
      .catch(() => {})
      .then(() => {
        takeBack()
        this.#closing.delete(connector)
      })
    this.#closing.set(connector, closed)
    return closed
  }

  close(): Promise<void> {
    return Promise.all(this.#closing.values()).then(() => {})
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#closing.keys()].map(connector => connector.destroy().catch(() => {})))
    await this.close()
  }
}
