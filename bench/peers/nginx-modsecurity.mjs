/** Peer: nginx with one worker and ModSecurity v3, on the rule set of the folder CRS_DIR. */
import { existsSync, writeFileSync } from 'node:fs'
import { nginxConfig, proxying } from '../lib/nginx-config.mjs'
import { peerFlags, runBinary, SKIPPED } from '../lib/peer.mjs'

const MODULE = '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so'

const { port, origin } = peerFlags()
const folder = process.env.CRS_DIR
if (!folder || !existsSync(MODULE)) {
  process.stderr.write(
    folder ? 'ModSecurity for nginx is not installed\n' : 'CRS_DIR does not name a rule set\n',
  )
  process.exit(SKIPPED)
}
const setup = ['crs-setup.conf', 'crs-setup.conf.example'].map(name => `${folder}/${name}`).find(existsSync)

/** What ModSecurity's recommended configuration says of requests. Replies are left alone. */
const rules = `
SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 13107200
SecResponseBodyAccess Off
SecAuditEngine Off
SecDebugLogLevel 0
SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" \\
  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "^application/json" \\
  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
SecAction "id:200010,phase:1,pass,nolog,setvar:tx.blocking_paranoia_level=${Number(process.env.CRS_PL ?? 1)}"
${setup ? `Include ${setup}` : ''}
Include ${folder}/rules/*.conf
`

runBinary({
  port,
  file: 'nginx.conf',
  config: dir => {
    writeFileSync(`${dir}/rules.conf`, rules)
    const lines = `modsecurity on; modsecurity_rules_file ${dir}/rules.conf;`
    return nginxConfig({
      dir,
      top: `load_module ${MODULE};`,
      errors: '/dev/null',
      http: proxying({ origin, listen: port, lines }),
    })
  },
  command: path => ['nginx', '-c', path],
})
