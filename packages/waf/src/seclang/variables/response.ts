/** Variables of a reply. */
import { Entry } from '../engine/form.ts'
import type { Variable } from './variable.ts'

const late = (values: Variable['values']): Variable => ({ values, late: true })
const scalar = (value: string | number): Entry[] => [new Entry('', String(value))]

export const responseVariables: readonly (readonly [string, Variable])[] = [
  ['RESPONSE_STATUS', late(tx => scalar(tx.response === null ? '' : tx.response.status))],
  ['RESPONSE_PROTOCOL', late(tx => scalar(tx.response?.protocol ?? ''))],
  ['RESPONSE_HEADERS', late(tx => tx.response?.headers ?? [])],
  ['RESPONSE_HEADERS_NAMES', late(tx => (tx.response?.headers ?? []).map(({ key }) => new Entry(key, key)))],
  [
    'RESPONSE_CONTENT_TYPE',
    late(tx => scalar(tx.response?.headers.find(({ lower }) => lower === 'content-type')?.value ?? '')),
  ],
  ['RESPONSE_BODY', late(tx => scalar(tx.responseBody))],
  ['RESPONSE_CONTENT_LENGTH', late(tx => scalar(tx.responseBody.length))],
  ['OUTBOUND_DATA_ERROR', late(tx => scalar(tx.outboundTooLong ? 1 : 0))],
]
