/** Several filters as one, with their types added up. */
import { label, show } from '../config/check.ts'
import { ConfigError, type ConfigFault } from '../errors.ts'
import type { Filter } from '../pipeline/contract.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the parts need and add is worked out below.
type AnyFilter = Filter<any, any, any>

/** All state that the filters add. */
export type StateOf<Parts extends readonly AnyFilter[]> = Parts extends readonly [
  // biome-ignore lint/suspicious/noExplicitAny: only one of the three is asked for.
  Filter<any, infer Adds extends object, any>,
  ...infer Rest extends readonly AnyFilter[],
]
  ? Adds & StateOf<Rest>
  : object

/** The state that the filters need and that none before them adds. */
export type NeedsOf<
  Parts extends readonly AnyFilter[],
  Has extends object = object,
> = Parts extends readonly [
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  Filter<infer Needs extends object, infer Adds extends object, any>,
  ...infer Rest extends readonly AnyFilter[],
]
  ? Missing<Needs, Has> & NeedsOf<Rest, Has & Adds>
  : object

/** The route parameters that the filters need. */
export type ParamsNeededBy<Parts extends readonly AnyFilter[]> = Parts extends readonly [
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  Filter<any, any, infer P extends object>,
  ...infer Rest extends readonly AnyFilter[],
]
  ? P & ParamsNeededBy<Rest>
  : object

/** What of `Needs` is not in `Has`; `never` when it is there with another type. */
type Missing<Needs extends object, Has extends object> =
  Has extends Pick<Needs, keyof Needs & keyof Has> ? Omit<Needs, keyof Has> : never

/** Prints one sentence where two parts add the same field. */
type Distinct<Parts extends readonly AnyFilter[], Has extends object = object> = Parts extends readonly [
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  Filter<any, infer Adds extends object, any>,
  ...infer Rest extends readonly AnyFilter[],
]
  ? keyof Adds & keyof Has extends never
    ? Distinct<Rest, Has & Adds>
    : readonly [
        { readonly 'state field is taken': `state field '${keyof Adds & keyof Has & string}' is taken` },
      ]
  : unknown

/** Prints one sentence where a part needs what only a later one adds. */
type InOrder<Parts extends readonly AnyFilter[]> = keyof NeedsOf<Parts> & keyof StateOf<Parts> extends never
  ? unknown
  : readonly [
      {
        readonly 'state field comes too late': `state field '${keyof NeedsOf<Parts> & keyof StateOf<Parts> & string}' is needed before it is added`
      },
    ]

/** A bundle: a filter that stands for its parts. */
export type Bundle<Parts extends readonly AnyFilter[]> = Filter<
  NeedsOf<Parts>,
  StateOf<Parts>,
  ParamsNeededBy<Parts>
>

/**
 * Makes one filter of several: `.use(bundle('api', cors(), rateLimit()))` is `.use(cors()).use(rateLimit())`.
 * The parts keep their names and their order; a bundle may be a part of another one.
 * @example const strict = bundle('strict', uriLength({ max: 1024 }), methods({ allow: ['GET', 'HEAD'] }))
 * @throws ConfigError for a part that is no filter.
 */
export function bundle<const Parts extends readonly AnyFilter[]>(
  name: string,
  ...parts: Parts & Distinct<Parts> & InOrder<Parts>
): Bundle<Parts> {
  const faults: ConfigFault[] = []
  label.check('bundle(name)', name, faults)
  const list: readonly AnyFilter[] = parts
  for (const [index, part] of list.entries()) {
    if (typeof part !== 'object' || part === null || typeof part.name !== 'string') {
      faults.push({
        place: `bundle ${show(name)}`,
        problem: `part ${index + 1} is no filter`,
        fix: 'Call its factory.',
      })
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze({ name, parts: Object.freeze(list) }) as unknown as Bundle<Parts>
}
