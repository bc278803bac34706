/** What the connections of one server, or of one `(req, res)` function, share. */
import type { Flow } from '../../pipeline/contract.ts'
import type { Deadlines } from '../../proxy/deadlines.ts'
import type { ClientGuard } from '../clients/guard.ts'
import type { Served } from '../service.ts'

/** An app, and how it is served. */
export interface Serving {
  readonly app: Served
  readonly draining: boolean
  /** Limits on its clients; `null` where the server is the host's. */
  readonly guard: ClientGuard | null
  /** Ends answers that their clients do not take; `null` for no limit. */
  readonly stalls: Deadlines | null
  /** Tunnels that are open. */
  readonly tunnels: Set<Flow>
}
