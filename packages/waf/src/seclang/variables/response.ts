/** Variables of a reply. */
import type { Variable } from './variable.ts'

const late = (values: Variable['values']): Variable => ({ values, late: true })

export const responseVariables: readonly (readonly [string, Variable])[] = [
  ['RESPONSE_STATUS', late(tx => tx.scalar(tx.response === null ? '' : tx.response.status))],
  ['RESPONSE_PROTOCOL', late(tx => tx.scalar(tx.response?.protocol ?? ''))],
  ['RESPONSE_HEADERS', late(tx => tx.response?.headers ?? [])],
  ['RESPONSE_HEADERS_NAMES', late(tx => tx.named(tx.response?.headers ?? []))],
  [
    'RESPONSE_CONTENT_TYPE',
    late(tx => tx.scalar(tx.response?.headers.find(({ lower }) => lower === 'content-type')?.value ?? '')),
  ],
  ['RESPONSE_BODY', late(tx => tx.scalar(tx.responseBody))],
  ['RESPONSE_CONTENT_LENGTH', late(tx => tx.scalar(tx.responseBody.length))],
  ['OUTBOUND_DATA_ERROR', late(tx => tx.scalar(tx.outboundTooLong ? 1 : 0))],
]
