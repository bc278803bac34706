/** Tests of rules: what is sent, and what the rules' log must say afterwards. The format is that of go-ftw. */

/** One test: a list of requests. It fails when any of them does. */
export interface FtwTest {
  /** Rule and number: `942100-1`. */
  readonly id: string
  readonly stages: readonly FtwStage[]
}

export interface FtwStage {
  readonly input: FtwInput
  readonly output: FtwOutput
  /** What the server behind the rules answers. */
  readonly backend: FtwBackend
}

export interface FtwBackend {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FtwBody
}

/** A request as it is sent; of JSON lines, `sent` or `parsed` hold it. */
export interface FtwInput {
  readonly method: string
  readonly uri: string
  readonly version: string
  readonly sent: { readonly headers: readonly (readonly [string, string])[]; readonly body: FtwBody } | null
  readonly parsed?: FtwHead
  /** All bytes of the request, base64; left out where they follow from the rest. */
  readonly wire?: string
}

export interface FtwHead {
  readonly method: string
  readonly uri: string
  readonly version: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: FtwBody | string | null
}

/** Text (UTF-8), or bytes. */
export type FtwBody = { readonly text?: string; readonly base64?: string }

/** What is expected. */
export interface FtwOutput {
  readonly status: number | readonly number[] | null
  readonly expectIds: readonly number[]
  readonly noExpectIds: readonly number[]
  /** Regular expressions that a line of the log has to fit, or must not. */
  readonly logContains: string | null
  readonly noLogContains: string | null
  /** The request must not get an answer that can be read. */
  readonly expectError: boolean
}

export function bytesOf(body: FtwBody | string | null): Uint8Array {
  if (body === null) return Buffer.alloc(0)
  if (typeof body === 'string') return Buffer.from(body, 'utf8')
  return body.base64 === undefined ? Buffer.from(body.text ?? '', 'utf8') : Buffer.from(body.base64, 'base64')
}
