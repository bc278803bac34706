/** The rules that stand in front of a rule set: what ModSecurity's recommended configuration says, in our words. */
import type { SeclangOptions } from './options.ts'

const BASE = `
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyLimitAction Reject
SecRequestBodyJsonDepthLimit 512
SecRule REQUEST_HEADERS:Content-Type "@rx ^(?:application(?:/soap\\+|/)|text/)xml" \\
  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/json" \\
  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/[a-z0-9.-]+[+]json" \\
  "id:200006,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule REQBODY_ERROR "!@eq 0" \\
  "id:200002,phase:2,t:none,log,deny,status:400,severity:2,\\
  msg:'The request body can not be read',logdata:'%{reqbody_error_msg}'"
SecRule MULTIPART_STRICT_ERROR "!@eq 0" \\
  "id:200003,phase:2,t:none,log,deny,status:400,severity:2,msg:'The multipart body is not strictly well formed'"
SecRule &ARGS "@ge 1000" \\
  "id:200007,phase:2,t:none,log,deny,status:400,severity:2,msg:'There are too many arguments to read them all'"
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml
SecResponseBodyLimit 524288
SecResponseBodyLimitAction ProcessPartial
`

/** Rules that carry the options out. */
export function preamble({ recommended = true, mode = 'On', set = {} }: SeclangOptions): string {
  const assignments: string[] = []
  const assign = (name: string, value: string | number | undefined): void => {
    if (value !== undefined) assignments.push(`setvar:'tx.${name}=${value}'`)
  }
  assign('blocking_paranoia_level', set.paranoia)
  assign('detection_paranoia_level', set.paranoia)
  assign('inbound_anomaly_score_threshold', set.inboundThreshold)
  assign('outbound_anomaly_score_threshold', set.outboundThreshold)
  for (const [name, value] of Object.entries(set.variables ?? {})) assign(name, value)
  const action =
    assignments.length === 0 ? '' : `SecAction "id:200010,phase:1,pass,nolog,${assignments.join(',')}"\n`
  return `SecRuleEngine ${mode}\n${recommended ? BASE : ''}${action}`
}
