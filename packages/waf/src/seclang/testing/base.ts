/** Rules that stand in front of the Core Rule Set in its regression tests. */
import { preamble } from '../api/recommended.ts'

/** The recommended configuration as the tests' own servers have it: rules only tell, and JSON replies are inspected too. */
export const RECOMMENDED: string = `${preamble({ mode: 'DetectionOnly' })}
SecRequestBodyJsonDepthLimit 1024
SecResponseBodyMimeType text/plain text/html text/xml application/json
`

/** The settings under which the tests of the Core Rule Set are run. */
export const TEST_SETUP: string = `
SecAction "id:900005,phase:1,nolog,pass,ctl:ruleEngine=DetectionOnly,ctl:ruleRemoveById=910000,\\
  setvar:tx.blocking_paranoia_level=4,setvar:tx.crs_validate_utf8_encoding=1,setvar:tx.arg_name_length=100,\\
  setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\\
  setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"
SecRule REQUEST_HEADERS:X-CRS-Test "@rx ^.*$" \\
  "id:999999,phase:1,pass,t:none,log,msg:'X-CRS-Test %{MATCHED_VAR}',ctl:ruleRemoveById=1-999999"
`
