/** Variables of arguments and of the request body. */
import type { Entry } from '../engine/form.ts'
import type { Transaction } from '../engine/transaction.ts'
import type { Variable } from './variable.ts'

const all = (tx: Transaction): readonly Entry[] =>
  tx.body.args.length === 0 ? tx.request.args : [...tx.request.args, ...tx.body.args]

function combinedSize(tx: Transaction): number {
  let sum = 0
  for (const { key, value } of all(tx)) sum += key.length + value.length
  return sum
}

const sum = (entries: readonly Entry[]): number =>
  entries.reduce((total, { value }) => total + Number(value), 0)
const late = (values: Variable['values']): Variable => ({ values, late: true })
const unsettled = (values: Variable['values']): Variable => ({ values, late: true, unsettled: true })

/** Flags that make up `MULTIPART_STRICT_ERROR`. */
const STRICT = [
  'BOUNDARY_QUOTED',
  'BOUNDARY_WHITESPACE',
  'DATA_BEFORE',
  'DATA_AFTER',
  'HEADER_FOLDING',
  'LF_LINE',
  'MISSING_SEMICOLON',
  'INVALID_QUOTING',
  'INVALID_PART',
  'INVALID_HEADER_FOLDING',
  'FILE_LIMIT_EXCEEDED',
] as const

const flag = (
  name: (typeof STRICT)[number] | 'CRLF_LF_LINES' | 'UNMATCHED_BOUNDARY',
): readonly [string, Variable] => [
  `MULTIPART_${name}`,
  late(tx => tx.scalar(tx.body.multipartFlags.has(name) ? 1 : 0)),
]

function isStrictError(tx: Transaction): boolean {
  const broken = tx.processor === 'MULTIPART' && tx.body.error !== ''
  return broken || STRICT.some(name => tx.body.multipartFlags.has(name))
}

export const argumentVariables: readonly (readonly [string, Variable])[] = [
  ['ARGS', late(all)],
  ['ARGS_NAMES', late(tx => tx.named(all(tx)))],
  ['ARGS_GET', { values: tx => tx.request.args }],
  ['ARGS_GET_NAMES', { values: tx => tx.named(tx.request.args) }],
  ['ARGS_POST', late(tx => tx.body.args)],
  ['ARGS_POST_NAMES', late(tx => tx.named(tx.body.args))],
  ['ARGS_COMBINED_SIZE', late(tx => tx.scalar(combinedSize(tx)))],
  ['FILES', late(tx => tx.body.files)],
  ['FILES_NAMES', late(tx => tx.named(tx.body.files))],
  ['FILES_SIZES', late(tx => tx.body.fileSizes)],
  ['FILES_COMBINED_SIZE', late(tx => tx.scalar(sum(tx.body.fileSizes)))],
  ['FILES_TMPNAMES', late(() => [])],
  ['FILES_TMP_CONTENT', late(() => [])],
  ['MULTIPART_PART_HEADERS', late(tx => tx.body.partHeaders)],
  ['MULTIPART_FILENAME', late(tx => tx.body.files)],
  ['MULTIPART_NAME', late(tx => tx.named(tx.body.files))],
  ['MULTIPART_STRICT_ERROR', unsettled(tx => tx.scalar(isStrictError(tx) ? 1 : 0))],
  ...STRICT.map(flag),
  flag('CRLF_LF_LINES'),
  flag('UNMATCHED_BOUNDARY'),
  ['REQUEST_BODY', late(tx => tx.scalar(tx.requestBody))],
  ['REQUEST_BODY_LENGTH', late(tx => tx.scalar(tx.requestBodyLength))],
  ['FULL_REQUEST_LENGTH', late(tx => tx.scalar(tx.requestBodyLength + tx.request.uriRaw.length))],
  ['REQBODY_PROCESSOR', unsettled(tx => tx.scalar(tx.processor))],
  ['REQBODY_ERROR', late(tx => tx.scalar(tx.body.error === '' ? 0 : 1))],
  ['REQBODY_ERROR_MSG', late(tx => tx.scalar(tx.body.error))],
  ['REQBODY_PROCESSOR_ERROR', late(tx => tx.scalar(tx.body.error === '' ? 0 : 1))],
  ['REQBODY_PROCESSOR_ERROR_MSG', late(tx => tx.scalar(tx.body.error))],
  ['URLENCODED_ERROR', late(tx => tx.scalar(tx.body.urlEncodedError ? 1 : 0))],
  ['INBOUND_DATA_ERROR', late(tx => tx.scalar(tx.inboundTooLong ? 1 : 0))],
  [
    'XML',
    {
      late: true,
      values: tx => tx.body.xmlText,
      // The two paths that rules use: all text, and all attribute values.
      select: (tx, { selector }) => {
        if (selector === null || selector.kind !== 'key') return tx.body.xmlText
        if (selector.key === '//@*') return tx.body.xmlAttributes
        return selector.key === '/*' || selector.key === '//*' ? tx.body.xmlText : []
      },
    },
  ],
]
