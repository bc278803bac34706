/** The operators of the rule language by name. */
import { Mistake } from '../parse/fault.ts'
import { verifyCpf, verifyCreditCard, verifySsn, verifySvnr } from './checksums.ts'
import { noMatch, unconditionalMatch } from './constant.ts'
import { detectScriptInjection, detectSqlInjection } from './detect.ts'
import { ipMatch, ipMatchFromFile } from './ip-match.ts'
import { eq, ge, gt, le, lt } from './numbers.ts'
import type { OperatorFactory } from './operator.ts'
import { pm, pmFromFile } from './phrases.ts'
import { rx } from './rx.ts'
import { beginsWith, contains, containsWord, endsWith, streq, strmatch, within } from './text.ts'
import { validateByteRange, validateUrlEncoding, validateUtf8Encoding } from './validate.ts'

const BY_NAME: ReadonlyMap<string, OperatorFactory> = new Map<string, OperatorFactory>([
  ['beginswith', beginsWith],
  ['contains', contains],
  ['containsword', containsWord],
  ['detectsqli', detectSqlInjection],
  ['detectxss', detectScriptInjection],
  ['endswith', endsWith],
  ['eq', eq],
  ['ge', ge],
  ['gt', gt],
  ['ipmatch', ipMatch],
  ['ipmatchf', ipMatchFromFile],
  ['ipmatchfromfile', ipMatchFromFile],
  ['le', le],
  ['lt', lt],
  ['nomatch', noMatch],
  ['pm', pm],
  ['pmf', pmFromFile],
  ['pmfromfile', pmFromFile],
  ['rx', rx],
  ['streq', streq],
  ['strmatch', strmatch],
  ['unconditionalmatch', unconditionalMatch],
  ['validatebyterange', validateByteRange],
  ['validateurlencoding', validateUrlEncoding],
  ['validateutf8encoding', validateUtf8Encoding],
  ['verifycc', verifyCreditCard],
  ['verifycpf', verifyCpf],
  ['verifyssn', verifySsn],
  ['verifysvnr', verifySvnr],
  ['within', within],
])

/** The operator with this name, lower case. Throws a Mistake for one that is not there. */
export function operatorFactory(name: string): OperatorFactory {
  const found = BY_NAME.get(name)
  if (!found)
    throw new Mistake(
      `operator @${name} is not known`,
      `Known are ${[...BY_NAME.keys()].map(known => `@${known}`).join(', ')}.`,
    )
  return found
}
