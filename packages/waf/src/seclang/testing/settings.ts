/** The settings under which tests of the Core Rule Set are run. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SeclangOptions } from '../api/options.ts'

/**
 * Options for `seclang()` under which the regression tests of the Core Rule Set are meant to be run: rules only tell,
 * paranoia level 4, the limits of arguments that the tests count on, JSON replies looked at.
 * @example const engine = await seclang({ ...ftwSettings, files: ['crs-setup.conf.example', 'rules/*.conf'] })
 */
export const ftwSettings: Omit<SeclangOptions, 'files'> = {
  mode: 'DetectionOnly',
  set: {
    paranoia: 4,
    variables: {
      crs_validate_utf8_encoding: 1,
      arg_name_length: 100,
      arg_length: 400,
      total_arg_length: 64_000,
      max_num_args: 255,
      max_file_size: 64_100,
      combined_file_sizes: 65_535,
    },
  },
  rules: `
SecRequestBodyJsonDepthLimit 1024
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecRuleRemoveById 910000`,
}

/**
 * Rule files of a path: a file or pattern is itself; of a folder the Core Rule Set's own layout is taken (`crs-setup.conf`,
 * or its example, in it or above it; then `rules/*.conf`, or `*.conf`).
 * @throws Error for a folder without rules.
 */
export function ruleFiles(path: string): string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path]
  const inner = join(path, 'rules')
  const rules = existsSync(inner) ? inner : path
  const above = dirname(join(path, 'x'))
  const folders = rules === inner ? [path] : basename(above) === 'rules' ? [path, dirname(above)] : [path]
  const setup = folders
    .flatMap(folder => [join(folder, 'crs-setup.conf'), join(folder, 'crs-setup.conf.example')])
    .find(file => existsSync(file))
  // A set-up that lies among the rules is one of *.conf.
  const first = setup === undefined || setup === join(rules, 'crs-setup.conf') ? [] : [setup]
  return [...first, join(rules, '*.conf')]
}
