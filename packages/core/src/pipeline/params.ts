/** Route parameters as types: `ParamsOf<'/files/:id/*rest'>` is `{ id: string; rest: string }`. */

/** Removes the methods in front of a pattern. */
type PathOf<Pattern extends string> = Pattern extends `${string} ${infer Path}` ? Path : Pattern

type Param<Segment extends string> = Segment extends `:${infer Name}`
  ? { [K in Name]: string }
  : Segment extends '*'
    ? { '*': string }
    : Segment extends `*${infer Name}`
      ? { [K in Name]: string }
      : unknown

type ParamsOfPath<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? Param<Head> & ParamsOfPath<Tail>
  : Param<Path>

/** Parameters that a route pattern names. A bare `*` is called `'*'`. */
export type ParamsOf<Pattern extends string> = ParamsOfPath<PathOf<Pattern>>

/** Refuses, at compile time, a pattern whose path does not start with `/`. */
export type BarePattern<Pattern extends string> =
  PathOf<Pattern> extends `/${string}` ? unknown : { readonly 'a route pattern starts with /': Pattern }
