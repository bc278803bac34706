/** Texts of `--help`. */

export const usage = `postern-waf: rules of the ModSecurity language, tried out

  postern-waf check FILE...                 finds every mistake in rule files
  postern-waf explain --rules PATH ...      tells which rules match a request, and why
  postern-waf ftw FILE... --rules PATH      runs tests of rules (YAML of go-ftw, or JSON lines)
  postern-waf cost --rules PATH ...         tells which rules take the time

postern-waf COMMAND --help tells more.
`

const RULES = `  --rules PATH       rules: a file, a pattern ('rules/*.conf'), or a folder. Of a folder the layout of the
                     OWASP Core Rule Set is read: crs-setup.conf (or its example), then rules/*.conf.
                     May be given several times; the order counts.
`
const PARANOIA = `  --paranoia N       paranoia level of the Core Rule Set, 1 to 4`

const TEXTS: Readonly<Record<string, string>> = {
  check: `postern-waf check FILE...

Reads rule files and prints every mistake with its file, line, rule and the way out.
FILE is a file, a pattern, or a folder as in --rules of the other commands. Files are read as one set, in order.

Exit code: 0 without mistakes, 1 with some, 2 when the command was not understood.

  postern-waf check /etc/modsecurity/*.conf
`,
  explain: `postern-waf explain --rules PATH [REQUEST | options]

Runs one request through the rules and prints those that match: what they say, on which value, where in it, and
what they look for.

REQUEST is a file with a raw HTTP request ('-' for standard input). Without it the request is made of:
  --url TARGET       path and query, or a whole URL; default /
  --method NAME      default GET, or POST with a body
  -H 'NAME: VALUE'   a field; may be given several times
  -d TEXT            the body; as a form, unless a field says otherwise
  --data-file FILE   the body, from a file

${RULES}${PARANOIA}; default 1
  --reply FILE       a raw HTTP reply to look at as well

Exit code: 0 when the request passes, 1 when it is refused, 2 when the command was not understood.

  postern-waf explain --rules /usr/share/modsecurity-crs --url "/?id=1' or '1'='1"
`,
  ftw: `postern-waf ftw FILE... --rules PATH [--list] [--edge] [--paranoia N]

Runs tests of rules: YAML files of go-ftw, or JSON lines (.jsonl). FILE is a file, a folder with all that is in it, or a
pattern ('tests/**/*.yaml'). The settings are those that the tests of the Core
Rule Set are meant for: rules only tell, paranoia level 4. The last line is 'N passed, N failed'; the ids of those
that failed stand before it.

${RULES}${PARANOIA}; default 4
  --list             prints each test with its result
  --only TEXT        only tests whose id begins so; may be given several times
  --edge             sends the tests over a socket to an edge that forwards to an origin. Tests that the edge refuses
                     before a rule runs, without the test asking for it, are counted apart.

In memory, without --edge, the rules' log decides; what status a server answers is not looked at.

Exit code: 0 when all pass, 1 when some fail, 2 when the command was not understood.

  postern-waf ftw 'tests/*.yaml' --rules /usr/share/modsecurity-crs
`,
  cost: `postern-waf cost --rules PATH [REQUESTS] [--rounds N] [--top N] [--paranoia N]

Runs requests and tells which rules take the time. Most rules are ruled out together, in one pass over the values of a
request; those that remain are run, and the table is about these.

REQUESTS is a file: a raw HTTP request, tests (JSON lines or YAML, as for ftw), or JSON lines with method, target,
headers and body. Default: a GET as browsers send it, a form, and JSON.

${RULES}${PARANOIA}; default 1
  --rounds N         how often all requests are run, 1 to 100000; default 200
  --top N            rules in the table; default 15

Exit code: 0, or 2 when the command was not understood.
`,
}

export function usageOf(command: string): string {
  return TEXTS[command]!
}
