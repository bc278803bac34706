/** Tells an app from what somebody forgot to finish. */
import { kindOf } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import type { App } from './contract.ts'

/** Adds a fault for what is not the result of `handle()`. */
export function checkApp(place: string, app: App, faults: ConfigFault[]): void {
  if (typeof app?.open === 'function' && typeof app.trusts === 'function') return
  const fix = 'End the pipeline with handle(), and pass what it returns.'
  faults.push({ place, problem: `it is ${kindOf(app)}, not an app`, fix })
}
