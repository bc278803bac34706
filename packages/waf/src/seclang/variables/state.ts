/** Variables that rules write or that change while they run. */
import { Entry } from '../engine/form.ts'
import type { Variable } from './variable.ts'

const volatile = (values: Variable['values']): Variable => ({ values, volatile: true })
const scalar = (value: string | number): Entry[] => [new Entry('', String(value))]

const two = (value: number): string => String(value).padStart(2, '0')

export const stateVariables: readonly (readonly [string, Variable])[] = [
  [
    'TX',
    {
      volatile: true,
      values: tx => tx.collection('TX'),
      select: (tx, { selector }) => {
        if (selector?.kind === 'key') {
          const found = tx.variable('TX', selector.key)
          return found === undefined ? [] : [found]
        }
        return tx.collection('TX', selector)
      },
    },
  ],
  ...['GLOBAL', 'IP', 'RESOURCE', 'SESSION', 'USER'].map((name): readonly [string, Variable] => [
    name,
    volatile(tx => tx.collection(name)),
  ]),
  ['MATCHED_VAR', volatile(tx => scalar(tx.matchedValue))],
  ['MATCHED_VAR_NAME', volatile(tx => scalar(tx.matchedName))],
  ['MATCHED_VARS', volatile(tx => tx.matched.map(({ key, value }) => new Entry(key, value)))],
  ['MATCHED_VARS_NAMES', volatile(tx => tx.matched.map(({ key }) => new Entry(key, key)))],
  ['HIGHEST_SEVERITY', volatile(tx => scalar(tx.highestSeverity))],
  ['RULE', volatile(tx => tx.ruleFields())],
  ['DURATION', volatile(tx => scalar(Math.round((performance.now() - tx.startedAt) * 1000)))],
  ['TIME', volatile(() => scalar(new Date().toTimeString().slice(0, 8)))],
  ['TIME_DAY', volatile(() => scalar(new Date().getDate()))],
  ['TIME_EPOCH', volatile(() => scalar(Math.floor(Date.now() / 1000)))],
  ['TIME_HOUR', volatile(() => scalar(two(new Date().getHours())))],
  ['TIME_MIN', volatile(() => scalar(two(new Date().getMinutes())))],
  ['TIME_MON', volatile(() => scalar(two(new Date().getMonth())))],
  ['TIME_SEC', volatile(() => scalar(two(new Date().getSeconds())))],
  ['TIME_WDAY', volatile(() => scalar(new Date().getDay()))],
  ['TIME_YEAR', volatile(() => scalar(new Date().getFullYear()))],
  // Nothing of the process is shown to rules: a rule set is data that may come from elsewhere.
  ['ENV', volatile(() => [])],
  ['GEO', volatile(() => [])],
  ['SESSIONID', volatile(() => scalar(''))],
  ['USERID', volatile(() => scalar(''))],
  ['WEBAPPID', volatile(() => scalar(''))],
]
