/** What an operator is to the engine. */
import type { LiteralSet } from '../regex/literals.ts'
import type { Subject } from '../regex/subject.ts'

/** What an operator may ask while a rule runs. */
export interface OperatorContext {
  /** Text with its macros replaced. */
  expand(macro: Macro): string
  /** Keeps what the operator found, for `TX:0` to `TX:9`; worked out when a rule reads it. */
  capture(groups: () => readonly (string | undefined)[]): void
}

/** A text with `%{…}` in it, read once. */
export interface Macro {
  readonly source: string
  /** The text itself when nothing in it changes; else `null`. */
  readonly constant: string | null
  readonly parts: readonly MacroPart[]
}

/** A piece of text, or a variable. */
export type MacroPart =
  | string
  | { readonly variable: string; readonly key: string | null; readonly source: string }

/** A compiled operator. */
export interface Operator {
  /** A value can match only when it holds a literal of each set, in any case. None: any value may. */
  readonly literals: readonly LiteralSet[]
  /** The whole number that values are compared with, for operators that do nothing else. */
  readonly bound?: number | bigint
  /** What it depends on beside the value; absent when that is nothing. */
  readonly depends?: Dependence
  /** Whether a value matches. With `captures`, what was found is kept in the context. */
  match(value: Subject, context: OperatorContext, captures: boolean): boolean
  /** Where in a value that matched the match begins, for reports; -1 or left out where that says nothing. */
  offset?(value: Subject): number
}

/** An argument that is expanded for each request. */
export interface Dependence {
  readonly argument: Macro
  /** The operator as it is when the argument expands to this text. */
  fixed(argument: string): Operator
}

/** What operators need when a rule set is read. */
export interface OperatorSource {
  /** Reads a macro. */
  macro(text: string): Macro
  /** Text of a data file, found beside the rule file. Throws a Mistake without one. */
  file(name: string): string
}

/** Makes an operator from its argument. Throws a Mistake for one that it can't take. */
export type OperatorFactory = (argument: string, source: OperatorSource) => Operator

/** For operators that any value may match. */
export const ANY_VALUE: readonly LiteralSet[] = []
