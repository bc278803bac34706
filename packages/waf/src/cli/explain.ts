/** `postern-waf explain`: which rules match a request, and why. */
import { programOf } from '../seclang/api/engine.ts'
import { offsetOf } from '../seclang/api/findings.ts'
import { RuleFollowing } from '../seclang/api/follow.ts'
import { seclang } from '../seclang/api/seclang.ts'
import type { RuleMatch } from '../seclang/engine/transaction.ts'
import { given, number, RULE_OPTIONS, rulesOf, text } from './arguments.ts'
import { count, line, print } from './output.ts'
import { read, replyOf, requestOf } from './request.ts'
import { sourceOf } from './source.ts'

const NAMES = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug']

export async function explain(args: readonly string[]): Promise<number> {
  const from = given(args, {
    ...RULE_OPTIONS,
    url: { type: 'string' },
    method: { type: 'string' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    'data-file': { type: 'string' },
    reply: { type: 'string' },
  })
  const files = rulesOf(from)
  const paranoia = number(from, 'paranoia', 1, 4)
  const request = requestOf(from)
  const replyFile = text(from, 'reply')
  const reply = replyFile === undefined ? null : replyOf(read(replyFile))
  const engine = await seclang({ files, set: paranoia === undefined ? {} : { paranoia } })

  const following = new RuleFollowing(programOf(engine)!, request, null, null)
  if (!following.refused) following.requestBody(request.body ?? null)
  if (reply !== null && !following.refused) following.replyHead(reply.status, reply.headers)
  if (reply !== null && !following.refused) following.replyBody(reply.body ?? null)
  following.end(reply?.status ?? 0, reply?.headers ?? [])

  const { matches, interruption } = following
  const { blocked, score, threshold } = following.inspection()
  const scores = threshold > 0 ? `, score ${score} of ${threshold}` : ''
  print(`${line(request.method, 40)} ${line(request.target)}`)
  if (!blocked) print(`passes${scores}`)
  else if (interruption!.rule === 0) print(`refused with ${interruption!.status}: a body is over the limit`)
  else print(`refused by rule ${interruption!.rule} with ${interruption!.status}${scores}`)
  for (const match of matches) tell(match)
  print('', `${count(matches.length, 'rule')} matched of ${engine.rules}`)
  return blocked ? 1 : 0
}

function tell(match: RuleMatch): void {
  const { rule, message, variable, value } = match
  const severity = rule.severity === null ? '' : ` ${NAMES[rule.severity]}`
  const offset = offsetOf(match)
  print('', `${rule.id}${severity}: ${line(message) || '(no message)'}`)
  if (match.condition !== null)
    print(`  found     ${line(variable)} = ${line(value, 160)}${offset > 0 ? `  (from byte ${offset})` : ''}`)
  const source = sourceOf(rule.place)
  for (const [index, { variables, operator, transformations }] of source.entries()) {
    print(`  ${index === 0 ? 'looks for' : 'and for  '} ${line(operator, 160)}`)
    print(
      `  in        ${line(variables, 160)}${transformations === '' ? '' : ` after ${line(transformations)}`}`,
    )
  }
  if (rule.tags.length > 0) print(`  tags      ${line(rule.tags.join(', '))}`)
  print(`  at        ${line(rule.place.file)}:${rule.place.line}`)
}
