/** The typed builder. It only collects; `handle()` of the outermost pipeline compiles. */

import { kindOf, oneOf, type Rule, readOptions, show, something, type Table, text } from '../config/check.ts'
import { ConfigError, type ConfigFault, type ProxyError } from '../errors.ts'
import { cidrMatcher } from '../net/cidr.ts'
import { ALL_READINGS, type PathReading } from '../router/readings.ts'
import { inject } from '../transport/inject.ts'
import { markPart } from './check-app.ts'
import { compile, type Description, type Step } from './compile.ts'
import type {
  App,
  ClientLink,
  Handler,
  InjectedReply,
  InjectOptions,
  OpenExchange,
  Pipeline,
  RequestHead,
  Source,
} from './contract.ts'
import type { AnyFilter, AnyHandler } from './plan.ts'
import { warnOf } from './warn.ts'

/** Options of {@link pipeline}. */
export interface PipelineOptions {
  /**
   * Peers that may supply `X-Forwarded-*`: addresses, CIDR blocks, `'private'`, `'loopback'`, `'unix'`, or a function
   * of the canonical address, which says exactly `true` (one that throws trusts nobody). Default: none, so that no client can choose its own address. What a trusted peer says
   * decides `clientAddress` and `scheme`.
   */
  trust?: readonly string[] | ((address: string) => boolean)
  /**
   * What servers behind the edge may make of a path, beyond RFC 3986: `'encoded-slash'` (`%2F` is `/`), `'backslash'`
   * (`\` and `%5C` are `/`), `'empty-segments'` (`//` is `/`), `'parameters'` (`;…` is cut off). A request is refused with
   * 400 `ambiguous-path` when its path, read in any combination of these, belongs to a route whose filters, wrappers or
   * handler it would not pass. Default: all of them. Leave out what no server behind the edge does: without
   * `'encoded-slash'`, `/packages/:name` takes `@scope%2Fname` beside a handler that does not proxy.
   */
  readings?: readonly PathReading[]
}

const DESCRIPTION = Symbol('description')

/** An app that is still a part of another one. */
interface Part extends App {
  readonly [DESCRIPTION]: Description
}

/**
 * Starts a pipeline.
 * @example
 * const app = pipeline().use(baseline()).handle(proxy(upstream({ name: 'app', targets: ['http://127.0.0.1:3000'] })))
 * @throws ConfigError for an entry of `trust` that is no address, and for readings that do not exist.
 */
export function pipeline(options: PipelineOptions = {}): Pipeline<object, object> {
  const faults: ConfigFault[] = []
  const { trust, readings = ALL_READINGS } = readOptions<PipelineOptions>('pipeline', options, RULES, faults)
  const trusts = trustTest(trust, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return new Builder([], { trusts, readings: [...readings] }) as unknown as Pipeline<object, object>
}

const readingsRule: Rule = {
  check(place, value, faults) {
    const fix = `Write an array of ${ALL_READINGS.map(name => `'${name}'`).join(', ')}.`
    if (!Array.isArray(value)) faults.push({ place, problem: `it is ${kindOf(value)}, not an array`, fix })
    else {
      for (const one of value) {
        if (!ALL_READINGS.includes(one)) faults.push({ place, problem: `${show(one)} is unknown`, fix })
      }
    }
  },
}

const RULES: Table<PipelineOptions> = {
  trust: something(
    'an array of addresses or a function',
    trust =>
      typeof trust === 'function' || (Array.isArray(trust) && trust.every(one => typeof one === 'string')),
    "Write for example ['10.0.0.0/8'].",
  ),
  readings: readingsRule,
}

/** Options of the outermost pipeline, checked. */
interface Settings {
  readonly trusts: (address: string) => boolean
  readonly readings: readonly PathReading[]
}

class Builder {
  readonly #steps: readonly Step[]
  /** `null` inside a route or host: such a pipeline is compiled with the one around it. */
  readonly #settings: Settings | null

  constructor(steps: readonly Step[], settings: Settings | null) {
    this.#steps = steps
    this.#settings = settings
  }

  use(filter: AnyFilter): Builder {
    return this.#with({ kind: 'use', filter })
  }

  wrap(wrapper: (inner: AnyHandler) => AnyHandler): Builder {
    return this.#with({ kind: 'wrap', wrapper })
  }

  route(pattern: string, build: (route: Builder) => App): Builder {
    return this.#with({ kind: 'route', pattern, part: partBy(build, `route ${nameOf(pattern)}`) })
  }

  host(name: string, build: (host: Builder) => App): Builder {
    return this.#with({ kind: 'host', name, part: partBy(build, `host ${nameOf(name)}`) })
  }

  handle(handler: Handler | null = null): App {
    const description: Description = { steps: this.#steps, handler: handler as AnyHandler | null }
    return this.#settings === null ? partOf(description) : freeze(description, this.#settings)
  }

  #with(step: Step): Builder {
    return new Builder([...this.#steps, step], this.#settings)
  }
}

function freeze(description: Description, { trusts, readings }: Settings): App {
  const open = compile(description, readings)
  const app: App = Object.freeze({
    trusts,
    open: (
      head: RequestHead,
      body: Source | null,
      link: ClientLink,
      fault: ProxyError | null = null,
    ): OpenExchange => open(head, body, link, fault),
    inject: async (options?: InjectOptions): Promise<InjectedReply> => inject(app, injectOptions(options)),
  })
  return app
}

const INJECT_RULES: Table<InjectOptions> = {
  path: text,
  method: text,
  scheme: oneOf('http', 'https'),
  authority: text,
  headers: something('an object', headers => typeof headers === 'object' && headers !== null),
  body: something(
    'a string, bytes or an array of bytes',
    body =>
      typeof body === 'string' ||
      body instanceof Uint8Array ||
      (Array.isArray(body) && body.every(chunk => chunk instanceof Uint8Array)),
  ),
  address: text,
  version: oneOf('1.0', '1.1', '2.0'),
}

function injectOptions(options: InjectOptions | undefined): InjectOptions {
  const faults: ConfigFault[] = []
  const given = readOptions<InjectOptions>('inject', options, INJECT_RULES, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return given
}

function partOf(description: Description): Part {
  const useless = (): never => {
    throw new ConfigError([
      {
        place: 'app',
        problem: 'this is the app of a route or host, which works only inside its pipeline',
        fix: 'Serve the app that the outermost handle() returns.',
      },
    ])
  }
  return markPart(
    Object.freeze({ [DESCRIPTION]: description, trusts: useless, open: useless, inject: useless }),
  )
}

/** What a pattern or host name is called in faults; whoever writes JavaScript may have written anything. */
function nameOf(text: unknown): string {
  return typeof text === 'string' ? text : `(${kindOf(text)})`
}

function partBy(build: (inner: Builder) => App, place: string): Description {
  if (typeof build === 'function') return describe(build(new Builder([], null)), place)
  const problem = `its second argument is ${kindOf(build)}, not a function`
  throw new ConfigError([{ place, problem, fix: 'Write r => r.use(…).handle(…).' }])
}

function describe(part: App, place: string): Description {
  if (typeof part === 'object' && part !== null && DESCRIPTION in part) return (part as Part)[DESCRIPTION]
  throw new ConfigError([
    {
      place,
      problem: 'the function does not return the app of the pipeline that it was given',
      fix: 'Write r => r.use(…).handle(…).',
    },
  ])
}

function trustTest(trust: PipelineOptions['trust'], faults: ConfigFault[]): (address: string) => boolean {
  if (typeof trust === 'function') return address => asked(trust, address)
  if (trust === undefined || trust.length === 0) return () => false
  const unix = trust.includes('unix')
  const named = trust.filter(entry => entry !== 'unix')
  const matches = named.length > 0 ? cidrMatcher(named, 'pipeline.trust', faults) : () => false
  return address => (address === 'unix' ? unix : matches(address))
}

/** Exactly true: the promise of an asynchronous function would trust everybody, and who throws trusts nobody. */
function asked(trust: (address: string) => boolean, address: string): boolean {
  try {
    return trust(address) === true
  } catch (cause) {
    warnOf('pipeline.trust', cause)
    return false
  }
}
