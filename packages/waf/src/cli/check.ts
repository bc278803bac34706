/** `postern-waf check`: every mistake of rule files. */
import { RuleError } from '../seclang/parse/fault.ts'
import { loadRules } from '../seclang/rules/load.ts'
import { ruleFiles } from '../seclang/testing/settings.ts'
import { given } from './arguments.ts'
import { count, line, print, UsageError } from './output.ts'

export async function check(args: readonly string[]): Promise<number> {
  const { files } = given(args, {})
  if (files.length === 0) throw new UsageError('no file is named')
  try {
    const { rules } = loadRules(files.flatMap(ruleFiles).map(path => ({ path })))
    print(`${count(rules.length, 'rule')}, no mistakes`)
    return 0
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    for (const { file, line: at, id, problem, fix } of error.faults) {
      const place = at === 0 ? '' : `${line(file)}:${at}${id === undefined ? '' : ` rule ${id}`}: `
      print(`${place}${line(problem)}`, `    ${line(fix)}`)
    }
    const inFiles = new Set(error.faults.map(({ file }) => file)).size
    print('', `${count(error.faults.length, 'mistake')} in ${count(inFiles, 'file')}`)
    return 1
  }
}
