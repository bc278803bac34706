/** Tells an app from what somebody forgot to finish. */
import { kindOf } from '../config/check.ts'
import type { ConfigFault } from '../errors.ts'
import type { App } from './contract.ts'

/** Apps of routes and hosts, which work only inside their pipeline. */
const parts = new WeakSet<App>()

/** Marks an app as a part of another one. */
export function markPart<A extends App>(app: A): A {
  parts.add(app)
  return app
}

/** Adds a fault for what is not the result of the outermost `handle()`. */
export function checkApp(place: string, app: App, faults: ConfigFault[]): void {
  if (typeof app?.open === 'function' && typeof app.trusts === 'function') {
    if (!parts.has(app)) return
    const fix = 'Serve the app that the outermost handle() returns.'
    faults.push({ place, problem: 'it is the app of a route or host', fix })
    return
  }
  const fix = 'End the pipeline with handle(), and pass what it returns.'
  faults.push({ place, problem: `it is ${kindOf(app)}, not an app`, fix })
}
